import { catalogued } from "./catalogue.ts";
import { changing, controlling } from "./change.ts";
import { delivered, redelivering } from "./deliveries.ts";
import { developing, trying } from "./develop.ts";
import { history } from "./history.ts";
import { things } from "./things.ts";
import type { Tool } from "./tool.ts";

/** All tools, by topic: first those that only read. */
export const tools: readonly Tool[] = [
  ...things,
  ...history,
  ...delivered,
  ...catalogued,
  ...developing,
  ...trying,
  ...changing,
  ...redelivering,
  ...controlling,
];

export const isReading = ({ effect }: Pick<Tool, "effect">): boolean => effect === "read";
