import { command, run } from "./run.ts";

/** What is released, and where to. All artifacts are functions of this and of the source. */
export interface Release {
  /** Root of the source. */
  readonly root: string;
  readonly version: string;
  /** `owner/name` of the repository on the host. */
  readonly repository: string;
  /** The commit of the source. */
  readonly commit: string;
  /** Time of that commit, in seconds: the time of everything in the artifacts, so that they are reproducible. */
  readonly committedAt: number;
  /** The run of the workflow that builds the release; undefined in a dry run. */
  readonly invocation?: string;
}

/** Reads the commit from Git, and the repository and the run from the variables that GitHub sets. */
export async function readRelease(root: string, version: string, env: NodeJS.ProcessEnv): Promise<Release> {
  const [commit = "", committedAt = ""] = (await run(command("git", "log", "-1", "--format=%H %ct"), { cwd: root })).trim().split(" ");
  const repository = env["GITHUB_REPOSITORY"] ?? "headwater/headwater";
  const { GITHUB_RUN_ID: id, GITHUB_RUN_ATTEMPT: attempt } = env;
  const invocation =
    id === undefined ? {} : { invocation: `https://github.com/${repository}/actions/runs/${id}/attempts/${attempt ?? "1"}` };
  return { root, version, repository, commit, committedAt: Number(committedAt), ...invocation };
}

/** Repository of the image. Registries accept lower case only. */
export const imageRepository = ({ repository }: Release): string => `ghcr.io/${repository.toLowerCase()}`;

/** Where `helm push` adds the chart's name to. */
export const chartParent = (release: Release): string => `${imageRepository(release)}/charts`;

export const platforms = ["linux/amd64", "linux/arm64"] as const;
export type Platform = (typeof platforms)[number];

export const isPlatform = (text: string | undefined): text is Platform => platforms.some((platform) => platform === text);
