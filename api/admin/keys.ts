import { noContent, ok, type Asked } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse } from "../http/request/parameters.ts";
import { everyGrant, issueKey, keyFields, keyResponse } from "../keys/keys.ts";
import { keyIdOf } from "../keys/operations.ts";
import type { AdminContext } from "./context.ts";
import { getUser } from "./users.ts";

/** API keys of any user. */
export function keyRoutes({ ports }: AdminContext) {
  const userOf = async (call: Asked): Promise<string> => (await getUser(pathOf(call, "id"), ports)).id;
  return {
    list: async (call: Asked) => ok((await ports.accounts.listKeys(await userOf(call))).map(keyResponse)),
    create: async (call: Asked) => {
      const fields = parse(keyFields, call.body);
      const { key, text } = await issueKey(await userOf(call), fields, everyGrant, ports);
      return ok({ ...keyResponse(key), key: text });
    },
    revoke: async (call: Asked) => {
      await ports.accounts.revokeKey(await userOf(call), keyIdOf(call, "key_id"));
      return noContent;
    },
  };
}
