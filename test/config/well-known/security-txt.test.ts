/** The settings of security.txt: each line of it is one address or time, and it is whole or not there. */
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../services/config/config.ts';

const CONTACTS = { HOOKRAIL_SECURITY_CONTACTS: 'mailto:security@example.com,https://example.com/report' };
const EXPIRES = { HOOKRAIL_SECURITY_EXPIRES: '2027-01-31' };

describe('the settings of security.txt', () => {
  test('are none by default, and then there is no such document', () => {
    expect(readConfig({}).api.securityTxt).toBeNull();
    expect(
      readConfig({ HOOKRAIL_SECURITY_CONTACTS: '', HOOKRAIL_SECURITY_EXPIRES: '' }).api.securityTxt,
    ).toBeNull();
  });

  test('keep the order of contacts and languages', () => {
    const more = {
      HOOKRAIL_SECURITY_POLICY: 'https://example.com/security',
      HOOKRAIL_SECURITY_LANGUAGES: 'de, en,pt-br',
    };
    expect(readConfig({ ...CONTACTS, ...EXPIRES, ...more }).api.securityTxt).toEqual({
      contacts: ['mailto:security@example.com', 'https://example.com/report'],
      expires: Date.UTC(2027, 0, 31),
      policy: 'https://example.com/security',
      languages: ['de', 'en', 'pt-BR'],
    });
  });

  test('may name a time in the past, which keeps no service from starting', () => {
    const { securityTxt } = readConfig({
      ...CONTACTS,
      HOOKRAIL_SECURITY_EXPIRES: '2020-01-31T12:00:00Z',
    }).api;
    expect(securityTxt?.expires).toBe(Date.UTC(2020, 0, 31, 12));
  });

  test.each([
    [CONTACTS, 'HOOKRAIL_SECURITY_CONTACTS is set without HOOKRAIL_SECURITY_EXPIRES'],
    [EXPIRES, 'HOOKRAIL_SECURITY_EXPIRES is set without HOOKRAIL_SECURITY_CONTACTS'],
    [
      { HOOKRAIL_SECURITY_LANGUAGES: 'en' },
      'HOOKRAIL_SECURITY_LANGUAGES is set without HOOKRAIL_SECURITY_CONTACTS',
    ],
  ])('%o alone is refused', (given, says) => {
    expect(() => readConfig(given)).toThrow(says);
  });

  test.each([
    ['CONTACTS', 'security@example.com', '"security@example.com" is none: write mailto:security@example.com'],
    ['CONTACTS', 'http://example.com/report', 'must be addresses that begin with mailto:, tel: or https://'],
    ['CONTACTS', 'mailto:a@example.com\nExpires:', 'must be addresses'],
    ['CONTACTS', 'https://example.com/\r\nContact: https://evil.example', 'must be addresses'],
    ['CONTACTS', 'javascript:alert(1)', 'must be addresses'],
    ['EXPIRES', 'next year', 'must be a time: 2027-01-31 or 2027-01-31T12:00:00Z'],
    ['EXPIRES', '2027-13-01', 'must be a time'],
    ['POLICY', 'http://example.com/security', 'must be an https address'],
    ['POLICY', 'https://example.com/\nContact: x', 'must be an https address'],
    ['LANGUAGES', 'English, German', '"English" is none'],
    ['LANGUAGES', 'e', 'must be language tags'],
  ])('HOOKRAIL_SECURITY_%s="%s" is refused', (name, value, says) => {
    const variable = `HOOKRAIL_SECURITY_${name}`;
    expect(() => readConfig({ ...CONTACTS, ...EXPIRES, [variable]: value })).toThrow(says);
    expect(() => readConfig({ ...CONTACTS, ...EXPIRES, [variable]: value })).toThrow(`${variable}=`);
  });
});
