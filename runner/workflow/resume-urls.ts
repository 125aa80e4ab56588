import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import { filePathPrefix, filesAddress, signedFileText } from "../../domain/files/file-url.ts";
import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { resumePath, signedText, type ResumeToken } from "../../domain/workflow/resume-request.ts";
import type { RunPorts } from "../run/ports.ts";

const maxKeys = 1_000;

/** Makes the resume and cancel URLs of suspensions, and the URLs of files. */
export class ResumeUrls {
  readonly #secrets: RunPorts["secrets"];
  /** Opened keys by their sealed form: opening one costs as much as a small step. */
  readonly #keys = new LRUCache<string, string>({ max: maxKeys });

  constructor(secrets: RunPorts["secrets"]) {
    this.#secrets = secrets;
  }

  /** @returns a function, because the key is opened asynchronously */
  async signer({ endpoint, resumeKey }: Pick<WorkflowDeployment, "endpoint" | "resumeKey">): Promise<(token: ResumeToken) => string> {
    const key = await this.#keyOf(resumeKey);
    const base = endpoint.replace(/\/$/, "");
    return (token) => base + resumePath(token, signatureOf(signedText(token), key));
  }

  /** What the URLs of files of a run begin with. They do not contain the address of the endpoint. @param expires epoch ms */
  async filesUrl(
    { workflow, owner, endpoint, resumeKey }: Pick<WorkflowDeployment, "workflow" | "owner" | "endpoint" | "resumeKey">,
    run: string,
    expires: number,
  ): Promise<string> {
    const signature = signatureOf(signedFileText({ owner, source: workflow, run, expires }), await this.#keyOf(resumeKey));
    const base = endpoint.replace(/\/$/, "");
    return `${base.slice(0, base.lastIndexOf("/"))}/${filesAddress(workflow)}${filePathPrefix({ run, expires }, signature)}`;
  }

  async #keyOf(resumeKey: string): Promise<string> {
    const key = this.#keys.get(resumeKey) ?? (await this.#secrets.open(resumeKey));
    this.#keys.set(resumeKey, key);
    return key;
  }
}

const signatureOf = (text: string, key: string): string => createHmac("sha256", key).update(text).digest("base64url");
