import type { Connector, ConnectorIndex } from "../../domain/component/connector.ts";

const [begin, end] = ["<!-- Written by npm run connectors: begin -->", "<!-- Written by npm run connectors: end -->"];

/** The page with the table of what loads in place of the one it has. @throws Error if it has no place for it */
export function withTable(page: string, index: ConnectorIndex): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error("the page has no place for the table of connectors");
  return `${page.slice(0, from + begin.length)}\n\n${tableOf(index)}\n\n${page.slice(to)}`;
}

export function tableOf({ connectors, failed }: ConnectorIndex): string {
  const all = connectors.length + failed.length;
  const count = (list: (each: Connector) => number): number => connectors.reduce((sum, each) => sum + list(each), 0);
  const share = all === 0 ? 0 : Math.round((connectors.length / all) * 100);
  const lines = [
    `${connectors.length} of ${all} packages load (${share} %), with ${count(({ actions }) => actions.length)} actions and ${count(({ triggers }) => triggers.length)} triggers.`,
    "",
    "| package | version | authentication | triggers | actions | bundle |",
    "|---|---|---|---|---|---|",
    ...connectors.map(rowOf),
  ];
  if (failed.length > 0) {
    lines.push("", "| does not load | why |", "|---|---|");
    lines.push(
      ...failed.map(({ name, version, problem }) => `| \`${name}\` ${version ?? ""} | ${problem.replaceAll("|", "\\|").slice(0, 300)} |`),
    );
  }
  return lines.join("\n");
}

function rowOf({ name, version, auth, triggers, actions, bundleBytes }: Connector): string {
  const kinds = ["polling", "webhook", "app_webhook", "manual"].flatMap((kind) => {
    const number = triggers.filter(({ trigger }) => trigger === kind).length;
    return number === 0 ? [] : [`${number} ${kind.replace("_", " ")}`];
  });
  const shown = kinds.length > 0 ? kinds.join(", ") : triggers.length === 0 ? "" : String(triggers.length);
  const kib = Math.max(1, Math.round(bundleBytes / 1024));
  return `| \`${name}\` | ${version} | ${auth.join(", ").replaceAll("_", " ")} | ${shown} | ${actions.length === 0 ? "" : actions.length} | ${kib} KiB |`;
}
