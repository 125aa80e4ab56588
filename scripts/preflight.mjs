/**
 * Checks the ports, the data directory and the disk before `npm start` installs anything, which may take minutes.
 *
 * Plain JavaScript without dependencies for Node 20 or later, as launch.mjs. It refuses only what is certain: main.ts checks all settings.
 */
import { spawnSync } from "node:child_process";
import { mkdir, readFile, rm, stat, statfs, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";

const megabyte = 1e6;
/** What a new data directory needs: Postgres' cluster, NATS' first files, logs. */
const dataBytes = 150 * megabyte;

/**
 * @param env the settings
 * @param install the directory in which packages will be installed, and the bytes that they need
 * @returns a line for each reason why the start would fail
 */
export async function problemsOfStart(env, install) {
  const directory = resolve(env.HEADWATER_DATA || ".headwater");
  const ownsServers = !env.NATS_URL || !env.DATABASE_URL;
  const needs = [{ path: install.directory, bytes: install.bytes, remedy: "free some space" }];
  let holder;
  if (ownsServers) {
    const unwritable = await problemOfDirectory(directory);
    if (unwritable !== undefined) return [unwritable];
    holder = await readLock(directory);
    if (holder?.isAlive) return [heldBy(directory, holder)];
    const isNew = await stat(join(directory, "postgres")).then(
      () => false,
      () => true,
    );
    if (isNew)
      needs.push({ path: directory, bytes: dataBytes, remedy: "free some space, or set HEADWATER_DATA to a directory on another disk" });
  }
  // Role processes of a crashed start hold the ports a moment longer: main.ts waits for them.
  const ports = holder === undefined ? await problemsOfPorts(env) : [];
  return [...ports, ...(await problemsOfDisks(needs))];
}

async function problemsOfPorts(env) {
  const roles = (env.HEADWATER_ROLES || "all").split(",").map((name) => name.trim());
  const addresses = [
    ["api", "HEADWATER_LISTEN", env.HEADWATER_LISTEN || "127.0.0.1:3000"],
    ...(env.HEADWATER_ADMIN_LISTEN ? [["api", "HEADWATER_ADMIN_LISTEN", env.HEADWATER_ADMIN_LISTEN]] : []),
    ["ingress", "HEADWATER_INGRESS_LISTEN", env.HEADWATER_INGRESS_LISTEN || "127.0.0.1:3001"],
  ];
  const problems = [];
  for (const [role, setting, address] of addresses) {
    if (!roles.includes("all") && !roles.includes(role)) continue;
    const problem = await problemOfPort(setting, address);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

/** Undefined also for an invalid address. */
function problemOfPort(setting, address) {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(address) ?? [];
  const host = (bracketed ?? plain) || "0.0.0.0";
  if (port === undefined || Number(port) > 65_535) return undefined;
  return new Promise((done) => {
    const server = createServer();
    server.once("error", ({ code, message }) => {
      const reason = code === "EADDRINUSE" ? "another process listens there" : message;
      done(`cannot listen on ${host}:${port}: ${reason}; stop it, or set ${setting} to another host:port`);
    });
    server.listen({ host, port: Number(port) }, () => server.close(() => done(undefined)));
  });
}

/** Creates the directory and a file in it: the rights of a file system are known by trying. */
async function problemOfDirectory(directory) {
  const probe = join(directory, `.preflight.${process.pid}`);
  try {
    await makeDirectory(directory);
    await writeFile(probe, "");
    return undefined;
  } catch (error) {
    return `the data directory ${directory} cannot be written (${error.message}): set HEADWATER_DATA to one that can`;
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

/** One level at a time: Node's recursive mkdir never returns in a file system such as /proc, where nothing can be created. */
async function makeDirectory(directory) {
  const code = await mkdir(directory).catch((error) => error.code);
  if (code === undefined || code === "EEXIST") return;
  if (code === "ENOENT" && dirname(directory) !== directory) await makeDirectory(dirname(directory));
  await mkdir(directory);
}

/** The holder of the lock that platform/process/data-lock.ts writes. */
async function readLock(directory) {
  try {
    const holder = JSON.parse(await readFile(join(directory, "lock"), "utf8"));
    return { ...holder, isAlive: isAlive(holder.pid) && (await startOf(holder.pid)) === holder.startedAt };
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** As in platform/process/processes.ts. */
async function startOf(pid) {
  if (process.platform === "linux") {
    const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  }
  if (process.platform === "win32") return "";
  return spawnSync("ps", ["-p", String(pid), "-o", "lstart="], { encoding: "utf8" }).stdout.trim();
}

const heldBy = (directory, { pid, address }) =>
  `${directory} is in use by process ${pid}, which serves ${address}: stop it, or set HEADWATER_DATA, HEADWATER_LISTEN and HEADWATER_INGRESS_LISTEN to others`;

/** Needs of the same disk add up. */
async function problemsOfDisks(needs) {
  const disks = new Map();
  for (const need of needs) {
    const device = (await stat(need.path)).dev;
    const before = disks.get(device);
    disks.set(device, { ...need, bytes: need.bytes + (before?.bytes ?? 0) });
  }
  const problems = await Promise.all([...disks.values()].map(problemOfDisk));
  return problems.filter((problem) => problem !== undefined);
}

async function problemOfDisk({ path, bytes, remedy }) {
  const { bavail, blocks, bsize } = await statfs(path);
  const free = bavail * bsize;
  if (blocks === 0 || free >= bytes) return undefined; // Some file systems report no sizes.
  const inMegabytes = (count) => Math.ceil(count / megabyte);
  return `the disk of ${path} has ${inMegabytes(free)} MB free, and the start needs about ${inMegabytes(bytes)} MB there: ${remedy}`;
}
