import type { PropDefinition } from "../../domain/component/definition.ts";
import type { Deployment } from "../../domain/source/deployment.ts";

/** Bundles of components. */
export interface BundleReader {
  /** The bundle with this hash, or its source map: `<hash>.map`. @throws NotFound, Unavailable */
  get(name: string): Promise<Uint8Array>;
}

export interface SourceTests {
  /** A source as it would be deployed, with secrets and accounts sealed for its pool. @throws InvalidInput, NotFound, Unavailable */
  seal(request: SourceDraftRequest): Promise<Deployment>;
}

/** A source that is tested before it is deployed. */
export interface SourceDraftRequest {
  readonly namespace: string;
  /** Name of the Component. */
  readonly tested: string;
  /** Secret values too. */
  readonly props: Readonly<Record<string, unknown>>;
  /** All props for these values, if the component adds some. */
  readonly configurableProps?: readonly PropDefinition[];
}

export interface DryRunOptions {
  readonly timeoutMs: number;
  /** Of a source that is not deployed. */
  readonly draft?: Deployment;
}
