import { isAbsolute, join } from "node:path";
import type { User } from "@kubernetes/client-node";
import { z } from "zod";
import { InvalidInput } from "../../domain/errors.ts";

/** By the user's name: what a kubeconfig says and client-node 2.0.1 does not read. */
export type LeftOut = ReadonlyMap<string, { readonly tokenFile?: string | undefined; readonly groups?: readonly string[] | undefined }>;

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

/** @param text of a kubeconfig @throws what quotes it */
export async function leftOutOf(text: string): Promise<LeftOut> {
  const { parse } = await import("yaml"); // Only here: in a pod there is no kubeconfig, and so no need for it.
  const users = file.parse(parse(text)).users ?? [];
  return new Map(users.map(({ name, user }) => [name, { tokenFile: user?.tokenFile, groups: user?.["as-groups"] }]));
}

const execSchema = z.looseObject({
  command: z.string(),
  apiVersion: z.string().default("client.authentication.k8s.io/v1"),
  provideClusterInfo: z.boolean().nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});

/** client-node hands the issuer on as text, where it has to be a URL (kubernetes-client/javascript#2202). */
const openIdSchema = z.looseObject({
  name: z.literal("oidc"),
  config: z.looseObject({ "idp-issuer-url": z.string().transform((text) => URL.parse(text) ?? text) }),
});

/** The user as client-node understands it: with the token's file, and a plugin that is found and told what it is asked for. @throws InvalidInput */
export function completeUser(
  user: User,
  more: { readonly tokenFile?: string | undefined; readonly folder: string; readonly server: string },
): User {
  const { token: _, ...rest } = user;
  if (more.tokenFile !== undefined) {
    // It reads `token-file`, which is no field of a kubeconfig, and once. This is how it reads the service account's.
    const authProvider = { name: "tokenFile", config: { tokenFile: pathAt(more.folder, more.tokenFile) } };
    return { ...rest, authProvider };
  }
  if (user.exec) return { ...user, exec: completeExec(user, more) };
  const openId = openIdSchema.safeParse(user.authProvider).data;
  return openId === undefined ? user : { ...user, authProvider: openId };
}

function completeExec({ name, exec: written }: User, more: { readonly folder: string; readonly server: string }): object {
  const { success, data: exec } = execSchema.safeParse(written);
  if (!success)
    throw new InvalidInput(`exec of the kubeconfig's user '${name}' needs a command, and name and value of each env`, {
      code: "invalid_kubeconfig",
    });
  // https://kubernetes.io/docs/reference/access-authn-authz/authentication/#input-and-output-formats
  const spec = { interactive: false, ...(exec.provideClusterInfo === true ? { cluster: { server: more.server } } : {}) };
  const info = { apiVersion: exec.apiVersion, kind: "ExecCredential", spec };
  const env = [...(exec.env ?? []), { name: "KUBERNETES_EXEC_INFO", value: JSON.stringify(info) }];
  // A bare name is looked for on PATH.
  return { ...exec, env, command: /[/\\]/.test(exec.command) ? pathAt(more.folder, exec.command) : exec.command };
}

const pathAt = (folder: string, path: string): string => (isAbsolute(path) ? path : join(folder, path));
