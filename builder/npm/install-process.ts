import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { z } from "zod";
import { receivedCode } from "../../domain/error-codes.ts";
import type { Confine } from "../ports.ts";
import type { InstallAnswer, InstallOrder } from "./install-packages.ts";
import type { NpmConfig } from "./config.ts";

const heapMb = 1024;
const maxAnswerCharacters = 2 ** 20;
const root = join(import.meta.dirname, "../..");
/** What the program imports. */
const ownFiles = ["builder", "domain", "node_modules", "package.json"].map((name) => join(root, name));
/** Proxies and certificates of the registry; Node's cache of compiled code. */
const inherited = /^((https?|no)_?proxy|proxy|NODE_EXTRA_CA_CERTS|NODE_COMPILE_CACHE|SSL_CERT_(FILE|DIR))$/i;
const inheritedFiles = ["NODE_EXTRA_CA_CERTS", "NODE_COMPILE_CACHE", "SSL_CERT_FILE", "SSL_CERT_DIR"];
/** Of addresses without a port. */
const usualPorts = [80, 443];
/** Names, where an answer is too long for a datagram. */
const dnsPort = 53;

export interface InstallProcess {
  readonly process: ChildProcess;
  /** @throws Error if it is not one */
  readonly answer: Promise<InstallAnswer>;
}

/** It may write only where it installs, and start no processes. */
export function startInstall(order: InstallOrder, confine: Confine | undefined): InstallProcess {
  const kept = Object.entries(process.env).filter(([name]) => inherited.test(name));
  // npm's libraries look up the folder of the user, which a user of its own does not have.
  const environment: Record<string, string | undefined> = { ...Object.fromEntries(kept), HOME: order.directory };
  const readable = [...ownFiles, ...inheritedFiles.flatMap((name) => environment[name] ?? [])];
  const writable = [order.directory, order.cache];
  const command = [process.execPath, ...flagsOf(writable), join(import.meta.dirname, "install-program.ts")] as const;
  const tcpPorts = portsOf(order.npm, environment);
  const [program, ...args] =
    confine === undefined ? command : confine({ readable, writable, tcpPorts, environment: Object.keys(environment), command });
  const child = spawn(program, args, { env: environment, stdio: ["pipe", "ignore", "ignore", "pipe"] });
  child.stdin?.on("error", () => {}); // Its exit reports why.
  // It stays open: its end means to the program that this process is gone.
  child.stdin?.write(`${JSON.stringify(order)}\n`);
  const answer = readAnswer(child.stdio[3] as Duplex); // `stdio` asks for it.
  answer.catch(() => {});
  return { process: child, answer };
}

function flagsOf(writable: readonly string[]): readonly string[] {
  return [
    `--max-old-space-size=${heapMb}`,
    "--permission",
    "--allow-net", // the npm registry
    "--allow-fs-read=*", // npm looks at folders above its own; the kernel permits the names of files, and not to read them
    ...writable.map((path) => `--allow-fs-write=${path}`),
    "--disable-warning=SecurityWarning",
    "--disable-warning=ExperimentalWarning",
  ];
}

/** Ports of the registries and proxies that the configuration names, and the usual ones: packages may be stored at other addresses. */
export function portsOf(npm: NpmConfig, environment: Readonly<Record<string, string | undefined>>): readonly number[] {
  const texts = [...Object.values(npm), ...Object.values(environment)].filter((value) => typeof value === "string");
  const named = texts.flatMap((text) => (URL.canParse(text) ? Number(new URL(text).port) : []));
  return [...new Set([...usualPorts, dnsPort, ...named.filter((port) => port > 0)])];
}

const text = z.string().max(10_000);
const answers = z.discriminatedUnion("outcome", [
  z.strictObject({ outcome: z.literal("installed") }),
  z.strictObject({
    outcome: z.literal("refused"),
    status: z.int(),
    code: text.transform(receivedCode),
    message: text,
    details: z.unknown(),
  }),
  z.strictObject({ outcome: z.literal("failed"), fields: z.record(z.string().max(100), z.unknown()) }),
]);

/** The process handles what others have published, so its answer is read as one of theirs. */
async function readAnswer(channel: Duplex): Promise<InstallAnswer> {
  let received = "";
  for await (const piece of channel.setEncoding("utf8")) {
    received += String(piece);
    if (received.length > maxAnswerCharacters) throw new Error("the answer of the install is too long");
  }
  return answers.parse(JSON.parse(received));
}
