import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import { errorTextOf } from "../../client/error-text.ts";
import type { Warning } from "../../client/generated/operations.ts";
import { text } from "./strings.ts";

const toasts = Toast.createToastManager();
const shownMs = 8_000;

/** Reports what happened; `undo` takes it back. */
export function showToast(title: string, undo?: () => void): void {
  const action = undo === undefined ? {} : { actionProps: { children: text.undo, onClick: undo } };
  toasts.add({ title, timeout: shownMs, ...action });
}

/** Reports a failure with its cause. */
export function showFailure(title: string, error: Error): void {
  const { message, lines } = errorTextOf(error);
  toasts.add({ title, description: [message, ...lines].join("\n"), type: "error", priority: "high", timeout: 0 });
}

/** Reports probable mistakes in what was done. */
export function showWarnings(warnings: readonly Warning[]): void {
  toasts.add({
    title: text.warnings(warnings.length),
    description: warnings.map(({ path, message }) => `${path}: ${message}`).join("\n"),
    type: "warning",
    timeout: 0,
  });
}

/** Warnings and failures stay until they are closed. */
const titleColors: Readonly<Record<string, string>> = { error: "text-bad", warning: "text-warn" };

export function Toasts() {
  return (
    <Toast.Provider toastManager={toasts} limit={4}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-2 bottom-2 z-50 flex w-[min(24rem,calc(100%-1rem))] flex-col gap-2">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts: shown } = Toast.useToastManager();
  return shown.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="flex items-start gap-3 rounded-lg border border-line bg-raised p-3 text-sm">
      <Toast.Content className="min-w-0 flex-1">
        <Toast.Title className={`font-medium ${titleColors[toast.type ?? ""] ?? ""}`} />
        <Toast.Description className="whitespace-pre-wrap wrap-anywhere text-muted" />
      </Toast.Content>
      <Toast.Action className="font-medium text-accent empty:hidden" />
      <Toast.Close aria-label={text.dismiss} className="text-muted">
        <X aria-hidden className="size-4" />
      </Toast.Close>
    </Toast.Root>
  ));
}
