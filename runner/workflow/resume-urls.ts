import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { WorkflowDeployment } from "../../domain/workflow/deployment.ts";
import { resumePath, signedText, type ResumeToken } from "../../domain/workflow/resume-request.ts";
import type { RunPorts } from "../run/ports.ts";

const maxKeys = 1_000;

/** Makes the resume and cancel URLs of suspensions. */
export class ResumeUrls {
  readonly #secrets: RunPorts["secrets"];
  /** Opened keys by their sealed form: opening one costs as much as a small step. */
  readonly #keys = new LRUCache<string, string>({ max: maxKeys });

  constructor(secrets: RunPorts["secrets"]) {
    this.#secrets = secrets;
  }

  /** @returns a function, because the key is opened asynchronously */
  async signer({ endpoint, resumeKey }: Pick<WorkflowDeployment, "endpoint" | "resumeKey">): Promise<(token: ResumeToken) => string> {
    const key = this.#keys.get(resumeKey) ?? (await this.#secrets.open(resumeKey));
    this.#keys.set(resumeKey, key);
    const base = endpoint.replace(/\/$/, "");
    return (token) => base + resumePath(token, createHmac("sha256", key).update(signedText(token)).digest("base64url"));
  }
}
