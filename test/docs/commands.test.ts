import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * Commands of kubectl and helm in the pages that people read when something is wrong work as they are written. Method: each command in code
 * is split into words.
 */
const pages = ["docs/runbooks.md", "docs/operations.md"];

const clusterScoped = /^(namespaces?|nodes?|crds?|runnerpools?)(\/|$)/;
const namespaceFlags = ["-n", "--namespace", "-A", "--all-namespaces"];
const inNamespace = ["get", "describe", "logs", "patch", "delete", "rollout", "create", "exec", "scale", "wait", "cp", "port-forward"];
const helmInNamespace = ["install", "upgrade", "rollback", "uninstall", "get"];
const flagsWithValue = ["-n", "--namespace", "-o", "--output", "-l", "--selector", "-p", "--patch", "--set", "--values", "-c"];

/** Problems of a command; empty: none was found. */
function problemsOf(command: string): readonly string[] {
  const words = command.replaceAll(/'[^']*'|"[^"]*"/g, "text").split(/\s+/);
  const has = (...flags: readonly string[]): boolean => words.some((word) => flags.includes(word.replace(/=.*/, "")));
  const [program, verb = "", ...args] = words.filter((word, index) => !word.startsWith("-") && !takesNext(words[index - 1]));
  const isNamespaced =
    program === "helm" ? helmInNamespace.includes(verb) : inNamespace.includes(verb) && !clusterScoped.test(args[0] ?? "");
  const [kind = "", name] = verb === "rollout" ? args.slice(1) : args;
  const isNamed = kind.includes("/") || name !== undefined || has("--selector", "-l");
  const found = {
    "has no namespace": isNamespaced && !has(...namespaceFlags),
    "keeps no values of the release": verb === "upgrade" && !has("--reset-then-reuse-values", "--values"),
    "names no release": program === "helm" && args.length === 0,
    "names no pod": verb === "logs" && kind === "" && !has("--selector", "-l"),
    "names no object": ["rollout", "patch", "delete", "scale"].includes(verb) && !isNamed,
  };
  return Object.entries(found).flatMap(([problem, isFound]) => (isFound ? [problem] : []));
}

const takesNext = (word: string | undefined): boolean => word !== undefined && flagsWithValue.includes(word);

/** Commands in inline code, and in blocks, where a backslash continues a line. `helm upgrade` alone names a command. */
function commandsOf(text: string): readonly string[] {
  const names = /^(kubectl|helm)( \w+)?$/;
  const inline = [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/`((?:kubectl|helm) [^`]*)`/g)].map(([, command = ""]) => command);
  const blocks = [...text.matchAll(/^```(?:bash|sh|console)\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) =>
    [...block.replaceAll(/\\\n\s*/g, "").matchAll(/^\s*(?:\$ )?((?:kubectl|helm) [^|;&\n]*)/gm)].map(([, command = ""]) => command),
  );
  return [...inline.filter((command) => !names.test(command)), ...blocks].map((command) => command.replaceAll(/\s+/g, " ").trim());
}

describe("commands", () => {
  it.each(pages)("of %s have a namespace and name what they act on", (page) => {
    const commands = commandsOf(readFileSync(join(import.meta.dirname, "../..", page), "utf8"));
    const found = commands.flatMap((command) => problemsOf(command).map((problem) => `${command}: ${problem}`));
    expect(commands.length).toBeGreaterThan(10);
    expect(found).toEqual([]);
  });

  it.each([
    ["kubectl -n headwater logs --previous", ["names no pod"]],
    ["kubectl -n headwater rollout restart deployment", ["names no object"]],
    ["kubectl describe pod headwater-nats-0", ["has no namespace"]],
    ["helm upgrade headwater charts/headwater --reuse-values", ["has no namespace", "keeps no values of the release"]],
    ["helm rollback --namespace headwater", ["names no release"]],
    ["kubectl -n headwater rollout restart deployment/headwater-api", []],
    ["kubectl -n headwater logs --selector app.kubernetes.io/component=backup --tail=-1", []],
    ["kubectl describe runnerpool default", []],
  ])("such as `%s` have the problems %j", (command, problems) => {
    expect(problemsOf(command)).toEqual(problems);
  });
});
