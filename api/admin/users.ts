import { z } from "zod";
import { Conflict, NotFound } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import { noContent, ok, okPage, type Asked } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse, parsePage } from "../http/request/parameters.ts";
import { emailField, nameField } from "../owners/names.ts";
import { clearOwned, kindsOwnedBy } from "../owners/owned.ts";
import type { OwnerNotes, User } from "../owners/ports.ts";
import type { ApiPorts } from "../ports.ts";
import { epochSeconds } from "../resources/identity.ts";
import type { AdminContext } from "./context.ts";

export const userFields = z.object({ username: nameField, email: emailField });

export function userRoutes({ ports }: AdminContext) {
  return {
    list: async ({ parameters }: Asked) => okPage(await ports.accounts.pageUsers(parsePage(parameters)), userResponse),
    create: async ({ body }: Asked) => {
      const { username, email } = parse(userFields, body);
      const id = newId("user", ports.randomBytes);
      await ports.accounts.createUser({ id, username, email });
      return ok(userResponse(await getUser(id, ports)));
    },
    get: async (call: Asked) => ok(userResponse(await getUser(pathOf(call, "id"), ports))),
    delete: async (call: Asked) => {
      const { id } = await getUser(pathOf(call, "id"), ports);
      const owned = await kindsOwnedBy(id, ports);
      if (owned.length > 0)
        throw new Conflict(`${id} owns resources (${owned.join(", ")}): delete them first, or revoke the user's keys`, {
          code: "user_owns_resources",
          details: { kinds: owned },
        });
      await ports.accounts.deleteUser(id);
      await clearOwned(id, ports);
      return noContent;
    },
  };
}

function userResponse({ id, username, email, createdAt, plan }: User & OwnerNotes) {
  return { id, username, email, plan, created_at: epochSeconds(createdAt) };
}

/** @throws NotFound */
export async function getUser(id: string, { accounts }: Pick<ApiPorts, "accounts">): Promise<User & OwnerNotes> {
  const user = isId("user", id) ? await accounts.findUser(id) : undefined;
  if (user === undefined) throw new NotFound(`user '${id.slice(0, 80)}' is not found`);
  return user;
}
