import type { ModuleSurvey } from "../node/node-survey.ts";
import type { PackageCase } from "./case.ts";
import { connectionCases } from "./connection-cases.ts";
import { dataCases } from "./data-cases.ts";
import { httpCases } from "./http-cases.ts";
import { moreDataCases } from "./more-data-cases.ts";
import { moreServiceCases } from "./more-service-cases.ts";
import { namedCases } from "./named-cases.ts";
import { notes } from "./notes.ts";
import { publicComponents } from "./public-components.ts";
import { serviceCases } from "./service-cases.ts";

/** docs/compatibility.md: from the cases that the tests try, and from a comparison of the sandbox's modules with Node's. */
export function compatibilityPage(modules: readonly ModuleSurvey[], missingGlobals: readonly string[]): string {
  return `${intro}
## Packages

Tests install each package from the registry, bundle it with the builder, run it in the sandbox against servers on
loopback, and compare the result (\`test/sandbox/packages/*.test.ts\`). A package that is not listed is likely to run if
it is JavaScript and uses only the modules below.

${section("Clients of HTTP", httpCases)}
${section("Clients of services", [...serviceCases, ...moreServiceCases])}
${section("Databases, queues, mail", connectionCases)}
${section("Computing", [...dataCases, ...moreDataCases])}
${section("In versions that public components ask for", namedCases)}
${publicComponents}
## Node's modules

All can be imported, with and without \`node:\`. *Whole*: every export of Node ${process.versions.node.split(".")[0]} exists and behaves as in Node, as far as
generated tests show (\`test/sandbox/node/*.test.ts\`). *Refused*: the module loads, because packages import it in
advance, and its members throw \`ERR_SANDBOX_UNSUPPORTED\` with an alternative.

| module | state | what differs |
|---|---|---|
${modules.map(moduleRow).join("\n")}

${outro(missingGlobals)}`;
}

const intro = `# What runs in the sandbox

<!-- Written from the results of tests, see test/sandbox/README.md. Changes go to test/sandbox/packages/. -->

Components run in V8 isolates, not in Node: there is no process, no disk and no native code. The sandbox implements the
APIs of Node and the web platform itself, on the few operations that the host performs for an isolate: connections under
the egress policy, cryptography, compression and name resolution. This page lists what works, and what differs.
`;

const outro = (missingGlobals: readonly string[]): string => `## Globals

${wrap(
  `The globals of Node ${process.versions.node.split(".")[0]} exist, among them \`fetch\`, \`Request\`, \`Response\`, \`Headers\`, \`FormData\`, \`Blob\`, \`URL\`, \`WebSocket\`, \`crypto\`, \`AbortController\`, web streams, \`structuredClone\`, \`Buffer\` and \`process\`. Missing: ${missingGlobals.map((name) => `\`${name}\``).join(", ")}. \`WebAssembly\` and shared memory would use memory outside of the memory limit and compute outside of the time limit; many packages with WebAssembly also have a JavaScript version. \`FinalizationRegistry\` accepts registrations and never calls back.`,
)}

## How much the host computes for a component

Cryptography and compression run in Node's own libraries, on a thread that all isolates of a process share. No call
holds it up for more than some tens of milliseconds: what takes longer is sent in pieces or computed by a thread pool,
which your code does not notice.

| what | limit | beyond it |
|---|---|---|
| hashes, HMACs, signatures, streaming ciphers (CBC, CTR, GCM, …) | 64 MiB leave an isolate in one run | \`bridge_limit\` |
| ciphers that take all data at once: key wrapping; CCM, XTS | 64 KiB; 1 MiB | \`limit_exceeded\` |
| signatures without a digest algorithm (Ed25519, Ed448) | 8 MiB | \`limit_exceeded\` |
| RSA keys: size; public exponent; generated pairs | 8,192 bits; 256 bits; 4,096 bits | \`limit_exceeded\`, \`ERR_OUT_OF_RANGE\` |
| encrypted private keys | PBKDF2 with 200,000 iterations | \`limit_exceeded\` |
| \`pbkdf2Sync\`; \`pbkdf2\`: iterations × blocks of 20 bytes | 2,000,000; 20,000,000 | \`limit_exceeded\` |
| \`scryptSync\`; \`scrypt\`: N·r·p, with 128 MiB of memory | 2^20; 2^22 | \`limit_exceeded\` |
| one call of zlib: input, output | 64 MiB each | \`limit_exceeded\`, \`ERR_BUFFER_TOO_LARGE\` |
| \`brotliCompressSync\` of more than 1 MiB | quality 5 | compressed at that quality |
| synchronous cryptography and compression together | a quarter of the shared thread, after 2 s | \`limit_exceeded\`: use the asynchronous functions |

A synchronous function that waits for the thread pool (\`pbkdf2Sync\`, \`scryptSync\`, \`generateKeyPairSync\`, \`gzipSync\` of
more than 64 KiB) counts as computing without a pause: it has 5 seconds.

## What cannot be, and what to do instead

| wanted | why not | instead |
|---|---|---|
| a server (\`http.createServer\`, \`net.createServer\`) | runs end, and nothing can reach an isolate | a prop of type \`$.interface.http\`: its requests are events |
| programs, threads (\`child_process\`, \`worker_threads\`, \`cluster\`) | an isolate is one thread without a process | call a service over HTTP; split the work into several sources |
| native addons (\`*.node\`) | they would run outside of the isolate | the package's version in JavaScript, or a service |
| files of the host | there is one machine for many | \`/tmp\`: of a source 64 MB in memory, gone with the isolate, of a step [the files of its run](workflows.md#files); state that must stay is for \`this.db\` |
| UDP, HTTP/2, local sockets | only TCP leaves the sandbox | \`fetch\`, \`node:https\`, \`node:net\`, \`node:tls\` |
| a realm of its own for code that you do not trust (\`vm\`) | an isolate has one realm | a source of its own; \`vm\` evaluates templates and expressions, and separates nothing |
`;

function section(title: string, cases: readonly PackageCase[]): string {
  const rows = cases.map(
    (each) =>
      `| \`${each.package}\` | ${each.version} | ${each.shows} | ${each.refused === undefined ? "works" : `refused: ${each.refused}`} |`,
  );
  return `### ${title}\n\n| package | version | what was done | |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

function moduleRow(survey: ModuleSurvey): string {
  const refused = Object.entries(survey.refused);
  const functions = survey.members - refused.length;
  const note = notes[survey.name];
  const differences = [
    ...(note?.differs === undefined ? [] : [note.differs]),
    ...Map.groupBy(refused, ([, why]) => why)
      .entries()
      .map(([why, members]) => `${list(members.map(([name]) => name))}: ${why}`),
    ...(survey.missing.length === 0 || note?.refused === true ? [] : [`not there: ${list(survey.missing)}`]),
  ];
  const state =
    note?.refused === true || (refused.length > 0 && functions === 0) ? "refused" : differences.length === 0 ? "whole" : "partial";
  return `| \`${survey.name}\` | ${state} | ${differences.join("; ").replaceAll("|", "\\|")} |`;
}

const maxListed = 16;

function list(names: readonly string[]): string {
  const shown = names.slice(0, maxListed).map((name) => `\`${name}\``);
  return names.length > maxListed ? `${shown.join(", ")} and ${names.length - maxListed} more` : shown.join(", ");
}

/** Breaks a paragraph into lines of at most 120 characters. */
function wrap(paragraph: string): string {
  const lines = [""];
  for (const word of paragraph.split(" ")) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length <= 120) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.join("\n");
}
