/** An installation and how to use it. */
export interface Profile {
  readonly name: string;
  /** Where it was found, for people: a file, the environment, a cluster. */
  readonly origin: string;
  /** Address of the API, without `/v1`. */
  readonly url: string;
  readonly apiKey: string | undefined;
  /** Organization on whose behalf everything is done. */
  readonly org: string | undefined;
}

/** A profile whose connection is open. */
export interface OpenProfile {
  readonly profile: Profile;
  close(): Promise<void>;
}
