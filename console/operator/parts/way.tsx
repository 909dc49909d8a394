import { type AnyRouter, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface Props {
  readonly to: string;
  readonly children: ReactNode;
  readonly className?: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly title?: string;
}

/** A link to a screen of this console. The types of Link know the addresses of one router, which is the merchants'. */
export function Way({ to, children, ...rest }: Props) {
  return (
    <Link<AnyRouter, string, string> to={to} {...rest}>
      {children}
    </Link>
  );
}
