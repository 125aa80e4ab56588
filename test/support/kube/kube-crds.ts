import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { waitUntil } from "../../../domain/retry.ts";
import type { KubeApiClient } from "./kube-api-client.ts";

const folder = join(import.meta.dirname, "..", "..", "..", "charts", "headwater", "files", "crds");
const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const named = z.looseObject({ metadata: z.looseObject({ name: z.string() }) });
const established = z.looseObject({
  status: z.looseObject({ conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).default([]) }).optional(),
});

/** Applies the generated definitions and waits until the server serves each. */
export async function installCrds(client: KubeApiClient): Promise<void> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml"));
  const definitions = await Promise.all(files.map(async (file) => named.parse(parse(await readFile(join(folder, file), "utf8")))));
  await Promise.all(
    definitions.map(async (definition) => {
      const { name } = definition.metadata;
      await client.apply(`${path}/${name}`, definition);
      if (!(await waitUntil(() => isEstablished(client, name), 120_000, 200))) throw new Error(`the CRD ${name} is not established`);
    }),
  );
}

async function isEstablished(client: KubeApiClient, name: string): Promise<boolean> {
  const { body } = await client.request("GET", `${path}/${name}`);
  const conditions = established.safeParse(body).data?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
}
