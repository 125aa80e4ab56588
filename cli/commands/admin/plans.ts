import type { Subcommand } from "../../command.ts";
import { usageFailure } from "../../failure.ts";
import type { Given } from "../../given.ts";
import { onePage } from "../../kinds/kind.ts";
import { listOptions, showList } from "../../listing.ts";
import { present } from "../../values.ts";
import { adminClient, adminOption } from "./token.ts";

const limitText = (limit: number | null): string => (limit === null ? "unlimited" : String(limit));
const forms = ["free", "paid"] as const;

/** `hw admin plans …` */
export const plans: readonly Subcommand[] = [
  {
    name: "list",
    isDefault: true,
    summary: "list plans",
    options: [adminOption, ...listOptions],
    examples: [{ command: "hw admin plans list", does: "List plans." }],
    operations: ["adminListPlans"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      await showList(context, given, {
        what: "plans",
        read: () => onePage(client.call("adminListPlans", {})),
        nameOf: ({ name }) => name,
        columns: [
          { header: "NAME", value: ({ name }) => name, isWhole: true },
          { header: "FORM", value: ({ form }) => form },
          { header: "RUNS A DAY", value: ({ daily_invocations_quota: quota }) => limitText(quota) },
          { header: "MS A DAY", value: ({ daily_compute_time_quota: quota }) => limitText(quota) },
          { header: "WEIGHT", value: ({ weight }) => String(weight) },
          { header: "ORGS", value: ({ max_organizations: max }) => String(max), isWide: true },
        ],
      });
    },
  },
  {
    name: "save",
    summary: "create a plan, or change it for all its owners",
    arguments: [{ name: "<plan>", description: "name of the plan" }],
    options: [
      adminOption,
      { flags: "--form <form>", description: "free shows the usage of the day, paid the runs of the month", choices: forms },
      { flags: "--runs <count>", description: "runs a day, or none for no limit" },
      { flags: "--compute-ms <count>", description: "milliseconds of compute time a day, or none for no limit" },
      { flags: "--weight <count>", description: "share of queued runs, 1 to 100", value: "count" },
      { flags: "--max-orgs <count>", description: "organizations that one user can create", value: "count" },
    ],
    examples: [{ command: "hw admin plans save large --form paid --runs none --weight 10", does: "Save a plan without a limit of runs." }],
    operations: ["adminSavePlan"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const name = given.required("plan");
      const form = forms.find((each) => each === given.text("form"));
      if (form === undefined) throw usageFailure("the form is missing", "add --form free or --form paid");
      const quotas = { daily_invocations_quota: quotaOf(given, "runs"), daily_compute_time_quota: quotaOf(given, "compute-ms") };
      const body = { form, ...present({ ...quotas, weight: given.count("weight"), max_organizations: given.count("max-orgs") }) };
      await context.out.done(await client.call("adminSavePlan", { path: { name }, body }), `plan ${name} saved`);
    },
  },
  {
    name: "delete",
    summary: "delete a plan that no owner has",
    arguments: [{ name: "<plan>", description: "name of the plan" }],
    options: [adminOption, { flags: "-y, --yes", description: "delete without asking" }],
    examples: [{ command: "hw admin plans delete large --yes", does: "Delete a plan." }],
    operations: ["adminDeletePlan"],
    run: async (context, given) => {
      const client = await adminClient(context, given);
      const name = given.required("plan");
      await context.terminal.confirm(`Delete plan ${name}?`, given.flag("yes"));
      await client.call("adminDeletePlan", { path: { name } });
      await context.out.done({ data: { name } }, `plan ${name} deleted`);
    },
  },
];

function quotaOf(given: Given, option: string): number | null | undefined {
  const text = given.text(option);
  if (text === undefined) return undefined;
  if (text === "none") return null;
  if (!/^\d+$/.test(text)) throw usageFailure(`--${option} "${text}" is invalid`, "write an integer, or none");
  return Number(text);
}
