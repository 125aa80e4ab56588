import type { Member } from "../../client/generated/operations.ts";
import { usageFailure } from "../failure.ts";
import type { Column } from "../output/table.ts";

export const organizationArgument = { name: "<org>", description: "an organization", completes: "organization" } as const;
export const roles = ["admin", "member"] as const;

export const memberColumns: readonly Column<Member>[] = [
  { header: "USER", value: ({ user_id: id }) => id, isWhole: true },
  { header: "USERNAME", value: ({ username }) => username },
  { header: "ROLE", value: ({ role }) => role },
];

export const roleOf = (text: string): (typeof roles)[number] => {
  const role = roles.find((each) => each === text);
  if (role === undefined) throw usageFailure(`role "${text}" is invalid`, `roles are: ${roles.join(", ")}`);
  return role;
};
