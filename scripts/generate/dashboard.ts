import { rows, type Panel } from "./dashboard-rows.ts";

/** The width of Grafana's grid, and the width of a panel. */
const [gridWidth, panelWidth, panelHeight] = [24, 8, 7];
const datasource = { type: "prometheus", uid: "${datasource}" };

interface Placed {
  readonly x: number;
  readonly y: number;
}

/** A dashboard for import into Grafana. It covers several installations: `job` selects one by the name in the scrape configuration. */
export function dashboard(): string {
  const model = {
    uid: "headwater",
    title: "Headwater",
    description: "Requests, runs, deliveries and the operator of a Headwater installation. docs/operations.md says what each metric means.",
    tags: ["headwater"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    timezone: "browser",
    templating: { list: [datasourceVariable, jobVariable, consoleVariable] },
    annotations: { list: [] },
    panels: panels(),
  };
  return `${JSON.stringify(model, undefined, 2)}\n`;
}

const datasourceVariable = { name: "datasource", label: "Data source", type: "datasource", query: "prometheus", current: {}, hide: 0 };
const jobVariable = {
  name: "job",
  label: "Job",
  type: "query",
  datasource,
  query: { query: "label_values(headwater_controller_leader, job)", refId: "job" },
  refresh: 2,
  includeAll: true,
  multi: true,
  allValue: ".*",
  current: { selected: true, text: ["All"], value: ["$__all"] },
  hide: 0,
};

/** Address of the web console, which the links of panels open. */
const consoleVariable = {
  name: "console",
  label: "Console",
  type: "textbox",
  query: "http://127.0.0.1:3000",
  current: { text: "http://127.0.0.1:3000", value: "http://127.0.0.1:3000" },
  hide: 0,
};

/** A click on a series of a pool opens the pool in the console. */
const poolLink = { title: "Show the pool in the console", url: "${console}/operations?pool=${__field.labels.pool}", targetBlank: true };

function panels(): readonly object[] {
  const all: object[] = [];
  let y = 0;
  for (const { title, panels: inRow } of rows) {
    all.push({ id: all.length + 1, type: "row", title, collapsed: false, panels: [], gridPos: { x: 0, y, w: gridWidth, h: 1 } });
    y += 1;
    const perLine = gridWidth / panelWidth;
    for (const [index, panel] of inRow.entries()) {
      const at = { x: (index % perLine) * panelWidth, y: y + Math.floor(index / perLine) * panelHeight };
      all.push(panelModel(panel, all.length + 1, at));
    }
    y += Math.ceil(inRow.length / perLine) * panelHeight;
  }
  return all;
}

function panelModel({ title, about, unit, queries }: Panel, id: number, at: Placed): object {
  return {
    id,
    type: "timeseries",
    title,
    description: about,
    datasource,
    gridPos: { ...at, w: panelWidth, h: panelHeight },
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 8, showPoints: "never" }, ...linksOf(queries) }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom", showLegend: true }, tooltip: { mode: "multi", sort: "desc" } },
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + index),
      datasource,
      editorMode: "code",
      range: true,
      expr,
      legendFormat,
    })),
  };
}

/** Series by pool have a link. */
const linksOf = (queries: Panel["queries"]): object =>
  queries.some(([, legend]) => legend.startsWith("{{pool}}")) ? { links: [poolLink] } : {};
