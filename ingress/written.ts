import type { ServerResponse } from "node:http";

/** Writes a part of a response. Resolves when it has left this process. @returns false: the client has left */
export function written(response: ServerResponse, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    // A response behind others on its connection may be dropped without an error.
    const onClose = (): void => resolve(false);
    response.once("close", onClose);
    response.write(bytes, (error) => {
      response.off("close", onClose);
      resolve(error === undefined || error === null);
    });
  });
}
