import { visible } from '../../../services/domain/text/visible-text.ts';
import type { Output } from '../../output.ts';

interface Why {
  readonly title: string;
  readonly detail: string;
  readonly remedy: string;
}

/** Formats why an event is, or would be, in quarantine, and what to do. `more`: what stands in brackets. */
export function whyLines({ title, detail, remedy }: Why, output: Output, more: string): readonly string[] {
  return [
    output.prose(`${output.paint('yellow', title)} (${more})`),
    output.prose(`  ${visible(detail)}`),
    output.prose(`  → ${remedy}`),
  ];
}
