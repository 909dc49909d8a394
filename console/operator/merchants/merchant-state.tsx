import { inWords, Outcome } from '../../parts/outcome.tsx';

/** The state of a merchant; one that is paused is on hold. */
export function MerchantState({ state }: { readonly state: string }) {
  return (
    <Outcome tone={state === 'active' ? 'good' : 'wait'}>
      {state === 'paused' ? 'on hold' : inWords(state)}
    </Outcome>
  );
}
