import { defineConfig } from "vitest/config";

// One classic script and one style sheet under fixed names: Django's static files give them their
// hashes. Classic, because a module is fetched with CORS, which fails in a frame whose sandbox
// gives it no origin.
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist/hits",
    target: "es2022",
    cssCodeSplit: false,
    rollupOptions: {
      input: "src/main.tsx",
      output: {
        format: "iife",
        entryFileNames: "task.js",
        assetFileNames: "task[extname]",
      },
    },
  },
  // Style sheets are read by the test of the colours.
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"], css: true },
});
