import { fileLimits } from "./run-files.ts";

/**
 * A URL at which anyone who has it can read one file of a run: `<address>/files/<run>/<expires>/<signature>/<manifest>/<name>`. The address is
 * that of an endpoint, or of the files of a workflow. The signature is that of the run. The manifest is a part of the same run that lists the
 * parts of the file; its random name is the secret that separates the files of a run.
 */
export interface FileUrl {
  /** Id of the run, or of an upload. */
  readonly run: string;
  /** Epoch ms after which the URL is refused. */
  readonly expires: number;
  /** Name of the part that lists the parts of the file. */
  readonly manifest: string;
  /** Only decides the content type and the name under which a browser saves the file. */
  readonly name: string;
}

export interface SignedFileUrl extends FileUrl {
  /** base64url */
  readonly signature: string;
}

/** Whose files a signature opens. Owner and source are not in the URL: the endpoint has them. */
export interface FileGrant {
  readonly owner: string;
  /** Id of the source or workflow. */
  readonly source: string;
  readonly run: string;
  readonly expires: number;
}

/** Files are deleted within a day after the end of their run. A run that waits longer keeps them, and needs a new URL. */
export const fileUrlMs = 24 * 60 * 60_000;

/** The text that is signed, with HMAC-SHA256 under the key of the endpoint. No text of a resume URL has this beginning. */
export const signedFileText = ({ owner, source, run, expires }: FileGrant): string => `files.${owner}.${source}.${run}.${expires}`;

/**
 * Key in the bucket ENDPOINTS, and in URLs, under which the files of a workflow are read. Its endpoint has another address, which is secret:
 * who is given a file must not be able to start runs. The keys of endpoints have 32 letters and digits.
 */
export const filesAddress = (workflow: string): string => workflow;

/** Path below the address, without manifest and name. @param signature base64url */
export const filePathPrefix = ({ run, expires }: Pick<FileUrl, "run" | "expires">, signature: string): string =>
  `/files/${run}/${expires}/${signature}/`;

/** What follows the prefix. */
export const filePathEnd = (manifest: string, name: string): string => `${manifest}/${encodeURIComponent(name)}`;

const pathPattern = /^\/files\/([a-z]{1,8}_\w{1,100})\/(\d{1,15})\/([\w-]{43})\/([0-9a-f]{32}-\d{1,6})\/([^/]{1,9216})$/;

/** Undefined if the path is not that of a file: then the request starts a run. */
export function parseFilePath(path: string): SignedFileUrl | undefined {
  const [, run = "", expires, signature = "", manifest = "", encoded] = pathPattern.exec(path) ?? [];
  if (encoded === undefined) return undefined;
  try {
    const name = decodeURIComponent(encoded);
    return name.length > fileLimits.pathCharacters ? undefined : { run, expires: Number(expires), signature, manifest, name };
  } catch {
    return undefined;
  }
}

/** Size of a part, in bytes, which is in its name. */
export const bytesOfPart = (part: string): number => Number(part.split("-")[1]);

/** Id under which a large request body is stored, in place of that of a run: it never has a commit. @param token random, letters and digits */
export const uploadId = (token: string): string => `up_${token}`;
