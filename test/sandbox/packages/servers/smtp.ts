import { createServer } from "node:net";
import { listen, type Listening } from "./listen.ts";

/** SMTP: accepts one message at a time and reports its content. */
export async function startSmtp(): Promise<Listening> {
  return await listen(
    createServer((socket) => {
      let text = "";
      let isData = false;
      socket.setEncoding("utf8").write("220 test\r\n");
      socket.on("data", (chunk: string) => {
        text += chunk;
        const separator = (): string => (isData ? "\r\n.\r\n" : "\r\n");
        for (let end = text.indexOf(separator()); end !== -1; end = text.indexOf(separator())) {
          const message = text.slice(0, end);
          text = text.slice(end + separator().length);
          socket.write(isData ? `250 kept ${found(message)}\r\n` : answer(message));
          isData = !isData && /^DATA/i.test(message);
        }
      });
    }),
  );
}

function answer(command: string): string {
  if (/^EHLO/i.test(command)) return "250-test\r\n250 AUTH PLAIN\r\n";
  if (/^AUTH/i.test(command)) return "235 welcome\r\n";
  if (/^DATA/i.test(command)) return "354 go on\r\n";
  if (/^QUIT/i.test(command)) return "221 bye\r\n";
  return "250 ok\r\n";
}

const found = (message: string): string => `${/=\?UTF-8\?[BQ]\?(.+)\?=/i.exec(message)?.[1]} and ${/filename=(\S+)/.exec(message)?.[1]}`;
