import type { StorageUse } from "../../../client/generated/operations.ts";
import type { Subcommand } from "../../command.ts";
import { onePage } from "../../kinds/kind.ts";
import { listOptions, showList } from "../../listing.ts";
import { bytes } from "../../output/bytes.ts";
import { fieldLines } from "../../output/fields.ts";
import { dateTime } from "../../output/time.ts";
import { auditFilters, auditListing, auditOptions } from "../audit.ts";
import { metricsOptions, rangeOf, showMetrics } from "../metrics.ts";
import { adminClient, adminOption } from "./token.ts";

const growthOf = ({ forecast, bytes_per_day: growth }: StorageUse): string =>
  growth === null ? (forecast === "steady" ? "not growing" : "unknown") : `${bytes(growth)}/day`;

/** `hw admin …` about the installation as a whole. */
export const installation: readonly Subcommand[] = [
  {
    name: "status",
    summary: "show problems, streams, runners, delivery replicas and what waits",
    options: [adminOption],
    examples: [{ command: "hw admin status", does: "Show the state of the installation." }],
    operations: ["adminGetStatus"],
    run: async (context, given) => {
      const answer = await (await adminClient(context, given)).call("adminGetStatus", {});
      await context.out.document(answer, () => fieldLines(answer.data));
    },
  },
  {
    name: "storage",
    summary: "list how full streams and the database are, and when they will be full",
    options: [adminOption, ...listOptions],
    examples: [{ command: "hw admin storage", does: "Show how full the disks are." }],
    operations: ["adminListStorage"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      await showList(context, given, {
        what: "streams",
        read: () => onePage(client.call("adminListStorage", {})),
        nameOf: ({ name }) => name,
        columns: [
          { header: "NAME", value: ({ name }) => name, isWhole: true },
          { header: "SIZE", value: ({ bytes: size }) => bytes(size) },
          { header: "LIMIT", value: ({ limit_bytes: limit }) => (limit === null ? "-" : bytes(limit)) },
          { header: "GROWTH", value: growthOf },
          { header: "FULL", value: ({ full_at: at }) => (at === null ? "-" : dateTime(at)) },
        ],
      });
    },
  },
  {
    name: "metrics",
    summary: "show what all owners did over time",
    options: [adminOption, ...metricsOptions],
    examples: [{ command: "hw admin metrics --from 1h", does: "Show the last hour of the installation." }],
    operations: ["adminGetMetrics"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      await showMetrics(context, given, await client.call("adminGetMetrics", { query: rangeOf(given) }));
    },
  },
  {
    name: "audit",
    summary: "list changes of all owners, newest first",
    options: [
      adminOption,
      { flags: "--owner <owner>", description: "only changes of what this user or organization owns" },
      ...auditOptions,
    ],
    examples: [{ command: "hw admin audit --action delete --since 7d", does: "Show what was deleted in the last week." }],
    operations: ["adminListAuditLog"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const filters = { ...auditFilters(given), owner_id: given.text("owner") };
      await showList(context, given, {
        ...auditListing,
        read: (page) => client.call("adminListAuditLog", { query: { ...page, ...filters } }),
      });
    },
  },
];
