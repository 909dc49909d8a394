import type { ReactNode } from 'react';

interface StepProps {
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}

/** One of several steps, with whether it is done. */
export function Step({ title, isDone, children }: StepProps) {
  return (
    <li>
      <h3>
        {title} {isDone ? <span className="good">✓ done</span> : null}
      </h3>
      {children}
    </li>
  );
}
