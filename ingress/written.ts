import type { ServerResponse } from "node:http";

/** Ends a response that is not whole. In HTTP/1.0 the end of the connection is the end of the body: only a reset shows that more was to come. */
export function breakOff(response: ServerResponse): void {
  if (response.headersSent && response.req.httpVersion === "1.0") response.socket?.resetAndDestroy();
  response.destroy();
}

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
