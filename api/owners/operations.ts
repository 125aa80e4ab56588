import { operation } from "../context.ts";
import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { ownerSettingsSchema, userSchema } from "./schemas.ts";
import { describeUse } from "./use.ts";

export const userOperations = [
  operation({
    route: "GET /users/me",
    id: "getMe",
    summary: "Get the caller with their organizations and usage",
    responses: one(userSchema),
    handle: async ({ user }, { ports }) => {
      const { id, username, email } = user;
      const [organizations, plan] = await Promise.all([ports.accounts.organizationsOf(id), ports.accounts.planOf(id)]);
      const orgs = organizations.map(({ name, id, orgname, email }) => ({ name, id, orgname, email }));
      return ok({ id, username, email, orgs, ...(await describeUse(id, plan, ports)) });
    },
  }),
  operation({
    route: "PUT /users/me",
    id: "updateMe",
    summary: "Choose whether to get mails about errors",
    body: ownerSettingsSchema,
    responses: one(ownerSettingsSchema),
    handle: async (call, { ports }) => {
      const { error_mails } = call.body();
      await ports.accounts.setErrorMails(call.user.id, error_mails);
      return ok({ error_mails });
    },
  }),
];
