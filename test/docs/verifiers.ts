import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { missingPrograms } from "../support/on-path.ts";

/** A delivery as a receiver has it. */
export interface Arrived {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signingKey: string;
}

/** What the code of a page says of a delivery, by either signature. */
export interface Verdict {
  readonly standard: boolean;
  readonly older: boolean;
}

/** A language of docs/webhooks.md: how its block becomes a program that reads deliveries as JSON and prints verdicts as JSON. */
export interface Language {
  /** Of the block's fence. */
  readonly fence: string;
  readonly program: string;
  /** File of the block, then of what calls it. */
  readonly files: readonly [block: string, caller: string];
  readonly caller: string;
  /** What makes a program of the files first, if anything does. */
  readonly build?: readonly string[];
  /** What runs it, in place of `program` when it was built. */
  readonly run: readonly string[];
}

export const languages: readonly Language[] = [
  {
    fence: "js",
    program: process.execPath,
    files: ["verify.mjs", "main.mjs"],
    caller: `
      import { isGenuine, isGenuineByOlderHeader } from "./verify.mjs";
      const all = JSON.parse(Buffer.concat(await process.stdin.toArray()));
      const verdicts = all.map(({ headers, body, signingKey }) => ({
        standard: isGenuine(headers, Buffer.from(body), signingKey),
        older: isGenuineByOlderHeader(headers, Buffer.from(body), signingKey),
      }));
      console.log(JSON.stringify(verdicts));`,
    run: [process.execPath, "main.mjs"],
  },
  {
    fence: "python",
    program: "python3",
    files: ["verify.py", "main.py"],
    caller: `
import json, sys
from verify import is_genuine, is_genuine_by_older_header

def verdict(one):
    given = (one["headers"], one["body"].encode(), one["signingKey"])
    return {"standard": is_genuine(*given), "older": is_genuine_by_older_header(*given)}

print(json.dumps([verdict(one) for one in json.loads(sys.stdin.buffer.read())]))`,
    run: ["python3", "main.py"],
  },
  {
    fence: "go",
    program: "go",
    files: ["verify.go", "main.go"],
    caller: `
package main

import (
	"encoding/json"
	"os"
)

func main() {
	var all []struct {
		Headers          map[string]string
		Body, SigningKey string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil {
		panic(err)
	}
	verdicts := []map[string]bool{}
	for _, one := range all {
		header := func(name string) string { return one.Headers[name] }
		verdicts = append(verdicts, map[string]bool{
			"standard": isGenuine(header, []byte(one.Body), one.SigningKey),
			"older":    isGenuineByOlderHeader(header, []byte(one.Body), one.SigningKey),
		})
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}`,
    build: ["go", "build", "-o", "main", "verify.go", "main.go"],
    run: ["./main"],
  },
  {
    fence: "ruby",
    program: "ruby",
    files: ["verify.rb", "main.rb"],
    caller: `
require "json"
require_relative "verify"

verdicts = JSON.parse($stdin.read).map do |one|
  given = one.values_at("headers", "body", "signingKey")
  { standard: genuine?(*given), older: genuine_by_older_header?(*given) }
end
puts JSON.generate(verdicts)`,
    run: ["ruby", "main.rb"],
  },
  {
    fence: "php",
    program: "php",
    files: ["verify.php", "main.php"],
    caller: `<?php
require "verify.php";

$verdicts = array_map(fn ($one) => [
    "standard" => isGenuine($one["headers"], $one["body"], $one["signingKey"]),
    "older" => isGenuineByOlderHeader($one["headers"], $one["body"], $one["signingKey"]),
], json_decode(file_get_contents("php://stdin"), true));
echo json_encode($verdicts);`,
    run: ["php", "main.php"],
  },
  {
    fence: "bash",
    program: "bash",
    files: ["verify.sh", "main.sh"],
    // It reads no JSON: each delivery is six words in base64, one line each.
    caller: `
. ./verify.sh
first=1
printf '['
while read -r key id timestamp signatures older body; do
  for name in key id timestamp signatures older; do printf -v "$name" %s "$(base64 -d <<< "\${!name}")"; done
  is_genuine "$key" "$id" "$timestamp" "$signatures" < <(base64 -d <<< "$body") && standard=true || standard=false
  is_genuine_by_older_header "$key" "$older" < <(base64 -d <<< "$body") && byOlder=true || byOlder=false
  ((first)) || printf ,
  first=0
  printf '{"standard":%s,"older":%s}' "$standard" "$byOlder"
done
printf ']'`,
    run: ["bash", "main.sh"],
  },
];

/** What a language needs, when it is not on PATH; the shell's block needs openssl as well. */
export function missingFor({ program, fence }: Language): string | undefined {
  const needed = fence === "bash" ? [program, "openssl"] : [program];
  return missingPrograms(needed.filter((name) => !name.startsWith("/")))[0];
}

/** Makes a program of a block of the page, in a directory of its own. @throws with what a compiler complains of */
export async function prepare(
  { files: [blockFile, callerFile], caller, build }: Language,
  block: string,
  directory: string,
): Promise<void> {
  await writeFile(join(directory, blockFile), block);
  await writeFile(join(directory, callerFile), caller);
  if (build !== undefined) await run(build, directory, "");
}

/** What the program says of deliveries. @throws with what it complains of */
export async function verdictsOf(
  { fence, run: command }: Language,
  arrived: readonly Arrived[],
  directory: string,
): Promise<readonly Verdict[]> {
  const input = fence === "bash" ? arrived.map(asWords).join("") : JSON.stringify(arrived);
  return JSON.parse(await run(command, directory, input)) as readonly Verdict[]; // Printed by our own program.
}

function asWords({ headers, body, signingKey }: Arrived): string {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature", "x-pd-signature"];
  const words = [signingKey, ...names.map((name) => headers[name] ?? "-"), body];
  return `${words.map((word) => Buffer.from(word).toString("base64")).join(" ")}\n`;
}

function run([program = "", ...words]: readonly string[], cwd: string, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd, env: { ...process.env, GO111MODULE: "off" } });
    let [output, errors] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(output) : reject(new Error(`${program} ended with ${code}:\n${errors}${output}`))));
    child.stdin.on("error", () => {}); // It ended before it had read all; its exit says why.
    child.stdin.end(input);
  });
}
