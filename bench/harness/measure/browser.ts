import { chromium, type Browser } from "playwright-core";
import { existsSync } from "node:fs";

const paths = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** @throws when no Chromium is installed */
export function startBrowser(): Promise<Browser> {
  const executablePath = paths.find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error("no Chromium is installed: apt-get install chromium");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
