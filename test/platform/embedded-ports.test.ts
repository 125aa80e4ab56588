import { afterAll, beforeAll, describe } from "vitest";
import { namedOwnerNamespaces } from "../../platform/postgres/resources/owner-namespaces.ts";
import { createSealedSecretValues } from "../../platform/secrets/secret-values.ts";
import type { Secrets } from "../../domain/secrets/secrets.ts";
import { createSecrets } from "../../platform/secrets/secrets.ts";
import { ownerNamespacesConformance } from "../conformance/owner-namespaces.ts";
import { secretValuesConformance } from "../conformance/secret-values.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

let owners = 0;

describe("owners' namespaces on one machine", () => {
  ownerNamespacesConformance(async () => ({ owners: namedOwnerNamespaces, others: namedOwnerNamespaces, owner: `u_${owners++}` }));
});

describe("secret values on one machine", () => {
  let directory: TemporaryDirectory;
  let secrets: Secrets;
  beforeAll(async () => {
    directory = await temporaryDirectory("secret-values");
    secrets = await createSecrets(directory.path);
  });
  afterAll(() => directory.remove());

  secretValuesConformance(async () => ({
    values: createSealedSecretValues(secrets),
    holder: { kind: "Source", namespace: "hw-u-1", name: "dc-1", uid: "uid-1" },
  }));
});
