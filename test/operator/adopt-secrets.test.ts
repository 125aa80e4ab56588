import { expect, it } from "vitest";
import { defaultSettings, sourceKind, type SourceResource } from "../../crds/source.ts";
import type { SettledHolder } from "../../crds/secret-values.ts";
import { Unavailable } from "../../domain/errors.ts";
import { adoptSecrets } from "../../operator/adopt-secrets.ts";
import { metadata } from "./metadata.ts";

const references = [{ secretKeyRef: { name: "stored", key: "token" } }];
const deletionTimestamp = "2026-11-21T12:00:09Z";
const forbidden = new Unavailable("Headwater lacks a right in the cluster", { code: "kubernetes_forbidden" });

const sourceOf = (generation: number, observedGeneration?: number, more: object = {}): SourceResource => ({
  apiVersion: "headwater.dev/v1alpha1",
  kind: "Source",
  metadata: { ...metadata, generation, ...more },
  spec: { code: "x", ...defaultSettings },
  status: observedGeneration === undefined ? {} : { observedGeneration },
});

/** @returns the holders that secrets were adopted for, and the number of warnings */
async function adopted(source: SourceResource, { refs = references, failure }: { refs?: typeof references; failure?: Error } = {}) {
  const [holders, warnings]: [SettledHolder[], object[]] = [[], []];
  const adopt = async (holder: SettledHolder): Promise<void> => {
    holders.push(holder);
    if (failure !== undefined) throw failure;
  };
  await adoptSecrets(sourceKind, source, refs, { secretValues: { adopt }, log: { warn: (fields) => void warnings.push(fields) } });
  return { generations: holders.map(({ generation }) => generation), warnings: warnings.length };
}

it("adopts the secrets of each generation that no status reports yet", async () => {
  expect(await adopted(sourceOf(1))).toMatchObject({ generations: [1] });
  expect(await adopted(sourceOf(3, 2))).toMatchObject({ generations: [3] });
  expect(await adopted(sourceOf(3, 3))).toMatchObject({ generations: [] });
  expect(await adopted(sourceOf(1), { refs: [] })).toMatchObject({ generations: [] });
});

it("adopts the secrets of a resource in deletion, also if an earlier release has reported it", async () => {
  expect(await adopted(sourceOf(2, undefined, { deletionTimestamp }))).toMatchObject({ generations: [2] });
  expect(await adopted(sourceOf(2, 2, { deletionTimestamp }))).toMatchObject({ generations: [2] });
});

it("continues a deletion without the rights to adopt, and fails otherwise", async () => {
  expect(await adopted(sourceOf(2, undefined, { deletionTimestamp }), { failure: forbidden })).toEqual({ generations: [2], warnings: 1 });
  await expect(adopted(sourceOf(1), { failure: forbidden })).rejects.toBe(forbidden);
});
