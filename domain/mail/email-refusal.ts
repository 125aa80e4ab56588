/** A refusal of an SMTP command, by its code in RFC 5321: 4xx asks the client to try again later, 5xx not to. */
export class EmailRefusal extends Error {
  readonly responseCode: number;

  /** @param text begins with the enhanced status code of RFC 3463 */
  constructor(responseCode: number, text: string) {
    super(text);
    this.responseCode = responseCode;
  }
}
