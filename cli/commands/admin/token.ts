import type { Client } from "../../../client/client.ts";
import type { OptionDefinition } from "../../command.ts";
import { clientOf } from "../../connect.ts";
import type { Context } from "../../context.ts";
import type { Given } from "../../given.ts";
import { nonEmpty } from "../../profile/config-file.ts";
import { readText } from "../../values.ts";

/** Every command of the admin API takes it. */
export const adminOption: OptionDefinition = {
  flags: "--admin-token-file <file>",
  description: "file with the admin token; by default HEADWATER_ADMIN_TOKEN_FILE or HEADWATER_ADMIN_TOKEN, otherwise it is asked for",
};

/** A client with the admin token in place of the API key. */
export async function adminClient(context: Context, given: Given): Promise<Client> {
  return clientOf({ ...context.profile, apiKey: await adminToken(context, given), org: undefined }, context.signal);
}

export async function adminToken({ env, terminal }: Pick<Context, "env" | "terminal">, given: Given): Promise<string> {
  const file = given.text("admin-token-file") ?? nonEmpty(env["HEADWATER_ADMIN_TOKEN_FILE"]);
  if (given.has("admin-token-file") && file !== undefined) return (await readText(file)).trim();
  const token = nonEmpty(env["HEADWATER_ADMIN_TOKEN"]);
  if (token !== undefined) return token;
  if (file !== undefined) return (await readText(file)).trim();
  return terminal.askSecret("Admin token", "write --admin-token-file, or set HEADWATER_ADMIN_TOKEN_FILE");
}
