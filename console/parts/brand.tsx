import { pageSetting } from './page-settings.ts';

/** The name of the console, or the logo in its place, as the operator has set it. */
export function Brand() {
  const [name, logo] = [pageSetting('name'), pageSetting('logo')];
  return logo === '' ? name : <img src={logo} alt={name} />;
}

/** Leads to the platform's page of help, where there is one. */
export function HelpLink() {
  const address = pageSetting('help');
  if (address === '') return null;
  return (
    <a className="help" href={address} target="_blank" rel="noreferrer">
      Help
    </a>
  );
}
