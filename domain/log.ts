/** Log records: fields, and a message for people. */
export interface Log {
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}
