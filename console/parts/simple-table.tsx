import type { ReactNode } from "react";

interface SimpleTableProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly ReactNode[])[];
}

/** A table of few rows; wide ones scroll inside themselves. */
export function SimpleTable({ label, head, rows }: SimpleTableProps) {
  return (
    <div className="min-w-0 overflow-x-auto" role="group" aria-label={label} tabIndex={0}>
      <table aria-label={label} className="w-full text-left text-sm">
        <thead>
          <tr className="border-b border-line">
            {head.map((title) => (
              <th key={title} scope="col" className="px-2 py-1.5 font-medium text-muted">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, index) => (
            <tr key={index} className="border-b border-line">
              {cells.map((cell, column) => (
                <td key={column} className="px-2 py-1.5">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
