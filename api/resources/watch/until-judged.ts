import type { Resource } from "../../../crds/resource.ts";
import { NotFound, Unavailable } from "../../../domain/errors.ts";
import { publicIdOf } from "../identity.ts";
import type { Following } from "./following.ts";
import { verdictOf, type Conditioned, type Verdict } from "./verdict.ts";

/** How messages name the kind. */
interface Judged {
  /** `source` */
  readonly noun: string;
  /** `/v1/sources` */
  readonly path: string;
}

/** A verdict with its resource. */
export interface Settled<S, T> extends Verdict<S, T> {
  readonly resource: Resource<S, T>;
}

/**
 * Waits for the operator's verdict on a written resource. @throws Unavailable when it takes too long, NotFound when the resource was
 * deleted in the meantime
 */
export async function untilJudged<S, T extends Conditioned>(
  written: Resource<S, T & { readonly id?: string | undefined }>,
  following: Following<S, T & { readonly id?: string | undefined }>,
  { noun, path }: Judged,
  timeoutMs: number,
): Promise<Settled<S, T>> {
  const { generation } = written.metadata;
  let last = written;
  const verdict =
    verdictOf(written, generation) ??
    (await following.until((seen) => {
      last = seen ?? last;
      return verdictOf(seen, generation);
    }, AbortSignal.timeout(timeoutMs)));
  const id = publicIdOf(written);
  if (verdict === undefined)
    throw new Unavailable(
      `${noun} ${id} is saved, but was not deployed within ${timeoutMs / 1000} s${whyNot(last)}; the deployment continues: see GET ${path}/${id}`,
      { code: "not_ready_in_time", details: { id } },
    );
  if (verdict.outcome === "gone") throw new NotFound(`${noun} ${id} was deleted in the meantime`);
  return { ...verdict, resource: verdict.resource ?? last };
}

/** What the operator is waiting for, such as a token of an account. */
function whyNot({ metadata, status }: Resource<unknown, Conditioned>): string {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "False" && ready.observedGeneration >= metadata.generation ? ` (${ready.message})` : "";
}
