import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, hexOf, type Digest } from "./digest.ts";
import type { Release } from "./release.ts";

/** One artifact that a statement is about. */
export interface Subject {
  readonly name: string;
  readonly digest: Digest;
}

const workflow = ".github/workflows/release.yml";
export const predicateType = "https://slsa.dev/provenance/v1";

/**
 * How the release was built: the predicate of https://slsa.dev/spec/v1.0/provenance. A dry run names itself as the builder, so
 * that its provenance cannot pass for that of a release.
 */
export async function createPredicate({ root, version, repository, commit, invocation }: Release): Promise<object> {
  const ref = `refs/tags/v${version}`;
  const source = `https://github.com/${repository}`;
  const lockfile = hexOf(digestOf(await readFile(join(root, "package-lock.json"))));
  return {
    buildDefinition: {
      buildType: "https://actions.github.io/buildtypes/workflow/v1",
      externalParameters: { workflow: { ref, repository: source, path: workflow } },
      internalParameters: {},
      resolvedDependencies: [
        { uri: `git+${source}@${ref}`, digest: { gitCommit: commit } },
        { uri: `git+${source}@${ref}#package-lock.json`, digest: { sha256: lockfile } },
      ],
    },
    runDetails: {
      builder: { id: invocation === undefined ? "urn:headwater:dry-run" : "https://github.com/actions/runner/github-hosted" },
      metadata: { invocationId: invocation ?? "dry-run" },
    },
  };
}

/** The predicate with its subjects, as an in-toto statement. */
export const createStatement = (subjects: readonly Subject[], predicate: object): object => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: subjects.map(({ name, digest }) => ({ name, digest: { sha256: hexOf(digest) } })),
  predicateType,
  predicate,
});
