/*
 * Write the vendored modules of the page from the pinned packages of package-lock.json.
 *
 *   node deploy/page/vendor.mjs [FOLDER]
 *
 * FOLDER is neuron_emf/page/static/vendor by default. The same lock gives the same bytes.
 * vendor.json names each package with its version and licence, and each file with its SHA-256.
 */

import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { build } from "esbuild";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const PACKAGES = path.join(ROOT, "node_modules");
const FOLDER = path.resolve(process.argv[2] ?? path.join(ROOT, "neuron_emf/page/static/vendor"));

const UI = `
export { h, render, Fragment, createContext } from "preact";
export * from "preact/hooks";
export { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect } from "@preact/signals";
import { h } from "preact";
import htm from "htm";
export const html = htm.bind(h);
`;
const UPLOT = 'export { default } from "uplot";';

/** Names of icons of Lucide, https://lucide.dev/icons */
const ICONS = [
  "activity", "arrow-down", "arrow-down-right", "arrow-right", "arrow-up", "arrow-up-right", "bell", "bell-off", "book-open",
  "check", "chevron-down", "chevron-right", "circle-alert", "circle-check", "circle-question-mark", "circle-minus", "clock", "copy",
  "cpu", "external-link", "eye", "eye-off", "info", "layers", "link", "list-filter", "minus", "monitor", "moon", "pause",
  "play", "refresh-cw", "search", "server", "sun", "table", "terminal", "triangle-alert", "user", "users", "x", "zoom-out",
];

const LICENSED = ["@preact/signals", "@preact/signals-core", "htm", "lucide", "preact", "uplot"];

/** Return the minified module of *source*, with its imports from node_modules. */
async function bundled(source) {
  const result = await build({
    stdin: { contents: source, resolveDir: ROOT, loader: "js" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    charset: "utf8",
    write: false,
  });
  return result.outputFiles[0].contents;
}

/** Return the module of the icons: the SVG elements of each icon, by name. */
async function iconModule() {
  const lines = [];
  for (const name of ICONS) {
    const module = await import(pathToFileURL(path.join(PACKAGES, `lucide/dist/esm/icons/${name}.mjs`)).href);
    lines.push(`  ${JSON.stringify(name)}: ${JSON.stringify(module.default)},`);
  }
  const type = "/** @type {Record<string, [string, Record<string, string>][]>} */";
  return Buffer.from(`${type}\nconst icons = {\n${lines.join("\n")}\n};\nexport default icons;\n`);
}

/** Return the version and licence of the package *name*, with the text of the licence. */
async function licensed(name) {
  const folder = path.join(PACKAGES, name);
  const about = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const text = await readFile(path.join(folder, "LICENSE"), "utf8");
  return { name, version: about.version, license: about.license, text: text.trim() };
}

const packages = await Promise.all(LICENSED.map(licensed));
const notices = packages.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`);
const files = {
  "LICENSES.txt": Buffer.from(notices.join(`\n${"-".repeat(80)}\n\n`)),
  "lucide.js": await iconModule(),
  "ui.js": await bundled(UI),
  "uplot.css": await readFile(path.join(PACKAGES, "uplot/dist/uPlot.min.css")),
  "uplot.js": await bundled(UPLOT),
};
const sums = Object.entries(files).map(([name, content]) => [name, createHash("sha256").update(content).digest("hex")]);
const about = {
  packages: packages.map(({ name, version, license }) => ({ name, version, license, source: `npm:${name}@${version}` })),
  sha256: Object.fromEntries(sums),
};

await mkdir(FOLDER, { recursive: true });
for (const [name, content] of Object.entries(files)) await writeFile(path.join(FOLDER, name), content);
await writeFile(path.join(FOLDER, "vendor.json"), `${JSON.stringify(about, null, 2)}\n`);
