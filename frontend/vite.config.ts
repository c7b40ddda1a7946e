import { defineConfig } from "vitest/config";

// One classic script and one style sheet under fixed names: Django's static files add hashes to
// them. Classic, because modules are fetched with CORS, which fails in a sandboxed frame without an
// origin.
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
  // The test of the colours reads the style sheets.
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"], css: true },
});
