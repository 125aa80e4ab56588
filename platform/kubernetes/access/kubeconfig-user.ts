import { isAbsolute, join } from "node:path";
import type { User } from "@kubernetes/client-node";
import { z } from "zod";
import { InvalidInput } from "../../../domain/errors.ts";

/** By user name: fields of a kubeconfig that client-node 2.0.1 does not read. */
export type UnreadFields = ReadonlyMap<
  string,
  { readonly tokenFile?: string | undefined; readonly groups?: readonly string[] | undefined }
>;

const file = z.object({
  users: z
    .array(
      z.object({
        name: z.string(),
        user: z.object({ tokenFile: z.string().optional(), "as-groups": z.array(z.string()).optional() }).nullish(),
      }),
    )
    .nullish(),
});

/** @param text of a kubeconfig @throws errors that quote it */
export async function readUnreadFields(text: string): Promise<UnreadFields> {
  const { parse } = await import("yaml"); // Only here: a pod has no kubeconfig.
  const users = file.parse(parse(text)).users ?? [];
  return new Map(users.map(({ name, user }) => [name, { tokenFile: user?.tokenFile, groups: user?.["as-groups"] }]));
}

const execSchema = z.looseObject({
  command: z.string(),
  apiVersion: z.string().default("client.authentication.k8s.io/v1"),
  provideClusterInfo: z.boolean().nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});

/** client-node passes the issuer as text, where a URL is required (kubernetes-client/javascript#2202). */
const openIdSchema = z.looseObject({
  name: z.literal("oidc"),
  config: z.looseObject({ "idp-issuer-url": z.string().transform((text) => URL.parse(text) ?? text) }),
});

/** Completes a user for client-node: token file, absolute plugin path and KUBERNETES_EXEC_INFO. @throws InvalidInput */
export function completeUser(
  user: User,
  context: { readonly tokenFile?: string | undefined; readonly folder: string; readonly server: string },
): User {
  const { token: _, ...rest } = user;
  if (context.tokenFile !== undefined) {
    // client-node only reads `token-file`, which is not a kubeconfig field, and only once. This is how it reads a service account's token.
    const authProvider = { name: "tokenFile", config: { tokenFile: pathAt(context.folder, context.tokenFile) } };
    return { ...rest, authProvider };
  }
  if (user.exec) return { ...user, exec: completeExec(user, context) };
  const openId = openIdSchema.safeParse(user.authProvider).data;
  return openId === undefined ? user : { ...user, authProvider: openId };
}

function completeExec({ name, exec: written }: User, context: { readonly folder: string; readonly server: string }): object {
  const { success, data: exec } = execSchema.safeParse(written);
  if (!success)
    throw new InvalidInput(`exec of the kubeconfig's user '${name}' needs a command, and name and value of each env`, {
      code: "invalid_kubeconfig",
    });
  // https://kubernetes.io/docs/reference/access-authn-authz/authentication/#input-and-output-formats
  const spec = { interactive: false, ...(exec.provideClusterInfo === true ? { cluster: { server: context.server } } : {}) };
  const info = { apiVersion: exec.apiVersion, kind: "ExecCredential", spec };
  const env = [...(exec.env ?? []), { name: "KUBERNETES_EXEC_INFO", value: JSON.stringify(info) }];
  // A bare name is searched in PATH.
  return { ...exec, env, command: /[/\\]/.test(exec.command) ? pathAt(context.folder, exec.command) : exec.command };
}

const pathAt = (folder: string, path: string): string => (isAbsolute(path) ? path : join(folder, path));
