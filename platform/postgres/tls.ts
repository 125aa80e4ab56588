import pg from "pg";
import { readClientFiles, type ClientFiles, type ClientOptions } from "../tls/client-files.ts";

type OnConnected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/** The URL's parameters win over options of pg, so the URL must contain none of TLS. */
export function withoutSslMode(url: string): string {
  const plain = new URL(url);
  const ofTls = [...plain.searchParams.keys()].filter((name) => /^(ssl|uselibpqcompat)/.test(name));
  for (const name of ofTls) plain.searchParams.delete(name);
  return plain.href;
}

/** A client that reads the files, and accepts only a server with a certificate of these authorities for its host. */
export function clientWithFiles(files: ClientFiles): typeof pg.Client {
  return class extends pg.Client {
    readonly #failure: Error | undefined;

    /** Never throws: pg's pool creates clients where nothing catches an error. */
    constructor(config?: string | pg.ClientConfig) {
      const { options, failure } = readForPg(files);
      super({ ...(typeof config === "string" ? { connectionString: config } : config), ssl: options });
      this.#failure = failure;
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: OnConnected): void;
    override connect(callback?: OnConnected): Promise<pg.Client> | void {
      const failure = this.#failure;
      if (failure === undefined) return callback === undefined ? super.connect() : super.connect(callback);
      if (callback === undefined) return Promise.reject(failure);
      process.nextTick(callback, failure);
    }
  };
}

function readForPg(files: ClientFiles): { readonly options: ClientOptions; readonly failure?: Error } {
  try {
    return { options: readClientFiles(files) };
  } catch (error) {
    return { options: {}, failure: error instanceof Error ? error : new Error(String(error)) };
  }
}
