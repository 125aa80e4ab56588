/** npm packages that actions import with their exact version, which the builder installs. */
declare module "pg@*" {
  import pg from "pg";
  export default pg;
}

declare module "nodemailer@*" {
  interface Transport {
    sendMail(
      mail: Readonly<Record<string, unknown>>,
    ): Promise<{ readonly messageId: string; readonly accepted: readonly string[]; readonly rejected: readonly string[] }>;
    close(): void;
  }
  const nodemailer: { createTransport(options: Readonly<Record<string, unknown>>): Transport };
  export default nodemailer;
}
