// Whether marks and boxes can be told apart, and text read, with every common kind of colour
// vision, in the colours that are shipped.

import { describe, expect, test } from "vitest";
import { LOOKS } from "../captions/Captions";
import sheet from "./colours.css?raw";

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

// Full dichromacy in linear RGB: Machado, Oliveira and Fernandes (2009), severity 1.
const VISION: Readonly<Record<string, Matrix>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const TO_XYZ: Matrix = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const WHITE: Triple = [0.95047, 1, 1.08883];

function times(matrix: Matrix, [x, y, z]: Triple): Triple {
  const row = ([a, b, c]: Triple): number => a * x + b * y + c * z;
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])];
}

function linear(hex: string): Triple {
  const part = (at: number): number => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
}

function lab(hex: string, vision: Matrix): Triple {
  const [r, g, b] = times(vision, linear(hex)).map((v) => Math.min(1, Math.max(0, v)));
  const xyz = times(TO_XYZ, [r ?? 0, g ?? 0, b ?? 0]);
  const [x, y, z] = xyz.map((value, at) => {
    const share = value / (WHITE[at] ?? 1);
    return share > 216 / 24389 ? Math.cbrt(share) : ((24389 / 27) * share + 16) / 116;
  }) as unknown as Triple;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function distance(one: string, other: string, vision: Matrix): number {
  const [a, b] = [lab(one, vision), lab(other, vision)];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

function contrast(one: string, other: string): number {
  const light = (hex: string): number => times(TO_XYZ, linear(hex))[1] + 0.05;
  const [a, b] = [light(one), light(other)];
  return Math.max(a, b) / Math.min(a, b);
}

const [lightSheet, darkSheet] = sheet.split("prefers-color-scheme: dark");

/** Read a colour of a theme; the dark one falls back on the light one, as the sheet does. */
function colour(name: string, theme: "light" | "dark"): string {
  const find = (css: string | undefined): string | undefined =>
    new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(css ?? "")?.[1];
  const found = (theme === "dark" ? find(darkSheet) : undefined) ?? find(lightSheet);
  if (!found) throw new Error(`no --${name}`);
  return found;
}

describe.each(["light", "dark"] as const)("%s theme", (theme) => {
  const marks = Array.from({ length: LOOKS }, (_, at) => colour(`mark-${at + 1}`, theme));

  test.each(Object.entries(VISION))("marks differ with %s", (_, vision) => {
    for (const [at, one] of marks.entries()) {
      for (const [further, other] of marks.slice(at + 1).entries()) {
        // The last and the first are neighbours too: colours begin again.
        const neighbours = further === 0 || (at === 0 && further === LOOKS - 2);
        const least = neighbours ? 20 : 19;
        expect(distance(one, other, vision), `${one} and ${other}`).toBeGreaterThan(least);
      }
    }
  });

  test("text on every mark can be read", () => {
    for (const mark of marks) {
      expect(contrast(mark, colour("on-mark", theme)), mark).toBeGreaterThan(4.5);
    }
  });

  test.each([
    ["text", "panel"],
    ["text", "ground"],
    ["text", "sunken"],
    ["muted", "panel"],
    ["muted", "ground"],
    ["muted", "sunken"],
    ["muted", "warn-soft"],
    ["accent", "panel"],
    ["accent-strong", "accent-soft"],
    ["on-accent", "accent"],
    ["on-accent", "accent-strong"],
    ["good", "good-soft"],
    ["bad", "bad-soft"],
    ["warn", "warn-soft"],
    ["warn", "ground"],
    ["text", "good-soft"],
    ["text", "bad-soft"],
  ])("%s on %s can be read", (text, ground) => {
    expect(contrast(colour(text, theme), colour(ground, theme))).toBeGreaterThan(4.5);
  });

  test("lines of controls stand out", () => {
    expect(contrast(colour("edge", theme), colour("panel", theme))).toBeGreaterThan(3);
  });
});

test("every mark has a line of its own below", () => {
  const lines = Array.from({ length: LOOKS }, (_, at) => {
    const rule = new RegExp(`\\.mark-${at + 1} \\{([^}]*)\\}`).exec(sheet)?.[1] ?? "";
    return rule.replace(/--mark: [^;]*;/, "").trim();
  });
  expect(new Set(lines).size).toBe(LOOKS);
  expect(lines).not.toContain("");
});

test.each(Object.entries(VISION))("red, blue and green boxes differ with %s", (name, vision) => {
  const box = (kind: string): string => colour(`box-${kind}`, "light");
  expect(distance(box("accepted"), box("candidate"), vision)).toBeGreaterThan(40);
  expect(distance(box("candidate"), box("expected"), vision)).toBeGreaterThan(20);
  // Red and green come close for some: the green one is dashed.
  if (name === "usual") {
    expect(distance(box("accepted"), box("expected"), vision)).toBeGreaterThan(40);
  }
  for (const kind of ["accepted", "candidate", "expected"]) {
    expect(contrast(box(kind), "#ffffff")).toBeGreaterThan(4.5);
  }
});
