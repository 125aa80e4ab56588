import type { ConfigureCall, ConfiguredOptions, ConfiguredProps } from "../domain/component/configure.ts";

/** A call to a component's code while a user configures it, or a source that runs it. */
export interface ConfigureRequest {
  readonly namespace: string;
  /** Name of the Component. */
  readonly component: string;
  /** Name of the Source, whose secrets are the default for absent ones, and whose props for absent `props`. */
  readonly source?: string;
  /** The same for a step: name of the Workflow. */
  readonly workflow?: string;
  /** Name of that step; set exactly beside `workflow`. */
  readonly step?: string;
  readonly props?: Readonly<Record<string, unknown>>;
  readonly call: ConfigureCall;
}

export interface Configurations {
  /**
   * @throws UserCode or InvalidInput for an error of the component, an exceeded limit, or a prop without options; NotFound; QuotaExceeded;
   * Unavailable; 504 `configure_timeout` when no runner replies in time
   */
  configure(request: ConfigureRequest): Promise<ConfiguredOptions | ConfiguredProps>;
}
