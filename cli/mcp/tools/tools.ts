import { catalogued } from "./catalogue.ts";
import { changing, controlling } from "./change.ts";
import { delivered, redelivering } from "./deliveries.ts";
import { building, trying } from "./develop.ts";
import { history } from "./history.ts";
import { configuring } from "./props.ts";
import { things } from "./things.ts";
import { effectOf, type Tool } from "./tool.ts";

/** All tools, by topic: first those that only read. */
export const tools: readonly Tool[] = [
  ...things,
  ...history,
  ...delivered,
  ...catalogued,
  ...building,
  ...configuring,
  ...trying,
  ...changing,
  ...redelivering,
  ...controlling,
];

/** The tools that a server offers. */
export const offeredTools = (mayWrite: boolean): readonly Tool[] => tools.filter((tool) => mayWrite || effectOf(tool, false) === "read");
