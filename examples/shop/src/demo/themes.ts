import type { Show } from './first-shows.ts'
import type { Words } from './random.ts'

// Parts of generated events, for those after `firstShows`.

export const series: Words = [
  'Café Ñ',
  'Übermorgen',
  'Noches de Ámbar',
  'Fête Foraine',
  'Księżyc',
  'Small Hours',
  'Ao Vivo',
  'Señorita Disco',
  'Kyōmei',
  'Midnight Post',
  'La Última',
  'Blåmåndag',
]

export const artists: Words = [
  'Zoë Marín',
  'Łukasz Dąb',
  'Ásta Øster',
  'João Verde',
  'Núria Camí',
  'Ines Weiß',
  'Tomáš Říha',
  'Aiko Mori',
  'Söner & Döttrar',
  'The Paper Lanterns',
  'Orkestar Čaršija',
  'Violet Hour',
  'Peña Eléctrica',
  'Hélène Aubry',
  'Kid Granizo',
  'Dış Ses',
]

type Theme = Pick<Show, 'genres' | 'ambiences' | 'age' | 'euros'> & { words: Words; about: string }

export const themes: readonly [Theme, ...Theme[]] = [
  {
    words: ['techno', 'house', 'electro'],
    genres: ['techno', 'house'],
    ambiences: ['dancing', 'late night'],
    age: '18',
    euros: 20,
    about: 'Doors at ten, no photographs, and a sound system that was tuned for this room alone.',
  },
  {
    words: ['jazz quartet', 'big band', 'late jam'],
    genres: ['jazz'],
    ambiences: ['seated', 'live music'],
    euros: 22,
    about: 'Two sets with a pause long enough to change your mind about the first.',
  },
  {
    words: ['flamenco', 'fado', 'rebetiko'],
    genres: ['folk'],
    ambiences: ['seated', 'listening'],
    euros: 26,
    about: 'No microphones: the room is small, and the voice is not.',
  },
  {
    words: ['stand-up', 'improv', 'storytelling'],
    genres: ['comedy'],
    ambiences: ['seated', 'laughing'],
    age: '16',
    euros: 12,
    about: 'Five people with a microphone and nothing to lose. Latecomers become part of the show.',
  },
  {
    words: ['indie night', 'shoegaze', 'garage'],
    genres: ['indie', 'rock'],
    ambiences: ['live music', 'standing'],
    euros: 17,
    about: 'Three new bands before they are too large for this stage.',
  },
  {
    words: ['open-air cinema', 'silent film with piano'],
    genres: ['film'],
    ambiences: ['families', 'open air'],
    euros: 9,
    about: 'Bring a blanket; the film starts when it is dark enough to see it.',
  },
  {
    words: ['string quartet', 'baroque by candlelight'],
    genres: ['classical'],
    ambiences: ['seated', 'listening'],
    euros: 30,
    about: 'An hour of music, and then the players stay for a glass and for questions.',
  },
  {
    words: ['salsa', 'forró', 'swing'],
    genres: ['latin', 'swing'],
    ambiences: ['dancing', 'beginners'],
    euros: 13,
    about: 'The first hour is a class, the rest is practice. Nobody needs a partner.',
  },
]
