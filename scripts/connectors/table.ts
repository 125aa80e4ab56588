import type { Connector, ConnectorIndex } from "../../domain/component/connector.ts";
import { memberOf, packageOf, type Service } from "../../test/sandbox/connector-runs/contract.ts";

const [begin, end] = ["<!-- Written by npm run connectors: begin -->", "<!-- Written by npm run connectors: end -->"];

/** The page with the tables of what loads and of what tests run, in place of those it has. @throws Error if it has no place for them */
export function withTable(page: string, index: ConnectorIndex, services: readonly Service[]): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error("the page has no place for the table of connectors");
  return `${page.slice(0, from + begin.length)}\n\n${tableOf(index, services)}\n\n${page.slice(to)}`;
}

function tableOf({ connectors, failed }: ConnectorIndex, services: readonly Service[]): string {
  const all = connectors.length + failed.length;
  const count = (list: (each: Connector) => number): number => connectors.reduce((sum, each) => sum + list(each), 0);
  const share = all === 0 ? 0 : Math.round((connectors.length / all) * 100);
  const lines = [
    `${connectors.length} of ${all} packages load (${share} %), with ${count(({ actions }) => actions.length)} actions and ${count(({ triggers }) => triggers.length)} triggers.`,
    "",
    "| package | version | authentication | triggers | actions | run by tests | bundle |",
    "|---|---|---|---|---|---|---|",
    ...connectors.map((each) => rowOf(each, services)),
  ];
  if (failed.length > 0) {
    lines.push("", "| does not load | why |", "|---|---|");
    lines.push(
      ...failed.map(({ name, version, problem }) => `| \`${name}\` ${version ?? ""} | ${problem.replaceAll("|", "\\|").slice(0, 300)} |`),
    );
  }
  lines.push("", ...runTable(services));
  return lines.join("\n");
}

/** Members that the cases of a package run, each once. */
const membersOf = ({ cases }: Service, kind: "action" | "trigger"): readonly string[] => [
  ...new Set(cases.filter((each) => kind in each).map(memberOf)),
];
const countOf = (services: readonly Service[], kind: "action" | "trigger"): number =>
  services.reduce((sum, service) => sum + membersOf(service, kind).length, 0);

function runTable(services: readonly Service[]): string[] {
  const shown = (service: Service, kind: "action" | "trigger"): string =>
    membersOf(service, kind)
      .map((member) => `\`${member.slice(kind.length + 1)}\``)
      .join(", ");
  const rows = services.map((service) => {
    const { name, version } = packageOf(service);
    return `| \`${name}\` ${version} | ${service.family.name} | ${shown(service, "trigger")} | ${shown(service, "action")} |`;
  });
  return [
    `Tests run ${countOf(services, "action")} actions and ${countOf(services, "trigger")} triggers of ${services.length} packages against doubles of their services.`,
    "",
    "| package | protocol | triggers that run | actions that run |",
    "|---|---|---|---|",
    ...rows.sort(),
  ];
}

/** `2 of 5`: how many members of a package tests run. */
function runShare({ name, triggers, actions }: Connector, services: readonly Service[]): string {
  const own = services.filter((service) => packageOf(service).name === name);
  const run = countOf(own, "action") + countOf(own, "trigger");
  return run === 0 ? "" : `${run} of ${triggers.length + actions.length}`;
}

function rowOf(connector: Connector, services: readonly Service[]): string {
  const { name, version, auth, triggers, actions, bundleBytes } = connector;
  const kinds = ["polling", "webhook", "app_webhook", "manual"].flatMap((kind) => {
    const number = triggers.filter(({ trigger }) => trigger === kind).length;
    return number === 0 ? [] : [`${number} ${kind.replace("_", " ")}`];
  });
  const shown = kinds.length > 0 ? kinds.join(", ") : triggers.length === 0 ? "" : String(triggers.length);
  const kib = Math.max(1, Math.round(bundleBytes / 1024));
  return `| \`${name}\` | ${version} | ${auth.join(", ").replaceAll("_", " ")} | ${shown} | ${actions.length === 0 ? "" : actions.length} | ${runShare(connector, services)} | ${kib} KiB |`;
}
