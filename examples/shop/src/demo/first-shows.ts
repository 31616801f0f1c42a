/** Texts and price level of a demo event. */
export type Show = {
  name: string
  description: string
  artists: string[]
  genres: string[]
  ambiences: string[]
  age?: string
  outfit?: string
  /** Approximate price of the plain ticket, in euros. */
  euros: number
}

/** First events of the demo, one in each city, in the order of the places. */
export const firstShows: readonly Show[] = [
  {
    name: 'Noche de Ñandú: cumbia y vermut',
    description:
      'Three bands, one accordion too many, and vermouth on tap until the trains run again. The floor opens at nine.',
    artists: ['Los Ñandúes', 'Marisol Peña', 'DJ Azafrán'],
    genres: ['cumbia', 'latin'],
    ambiences: ['dancing', 'live music'],
    age: '18',
    euros: 18,
  },
  {
    name: '夜の庭 Night Garden: ambient until dawn',
    description:
      'Lie down between bonsai and loudspeakers. Four artists play one piece each, two hours long, as the roof slides open.',
    artists: ['Haruka Kōda', 'Mizu & Ishi', 'Satō Ren', 'Oto no Niwa'],
    genres: ['ambient', 'electronic'],
    ambiences: ['listening', 'open air'],
    age: '20',
    outfit: 'Socks. Shoes stay at the door.',
    euros: 32,
  },
  {
    name: 'Brass on the Lock',
    description:
      'Eleven horns on a narrowboat, and everyone else on the towpath. They take requests as long as nobody asks for weddings.',
    artists: ['Camden Lock Brass', 'Ottilie Fforde'],
    genres: ['brass', 'soul'],
    ambiences: ['live music', 'families'],
    euros: 14,
  },
  {
    name: 'Rooftop Soul: Sundown to Skyline',
    description:
      'Records older than the building they are played on. Come for the sunset over the bridge, stay for the B-sides.',
    artists: ['Denise Laveau', 'The Fulton Fish Market Horns'],
    genres: ['soul', 'disco'],
    ambiences: ['rooftop', 'dancing'],
    age: '21',
    outfit: 'Smart, with shoes that you can dance in',
    euros: 38,
  },
  {
    name: 'Les Éclats : chanson nouvelle',
    description:
      'Six singers under thirty and one piano over a hundred. Every song is new; the oldest was finished this morning.',
    artists: ['Zoé Lemaître', 'Anaïs Çelik', 'Théo Garçon'],
    genres: ['chanson', 'pop'],
    ambiences: ['seated', 'live music'],
    euros: 24,
  },
  {
    name: 'Łódź Late: jazz po północy',
    description:
      'The session starts when the concert halls close. Bring an instrument and you play; bring a cake and you play first.',
    artists: ['Kwartet Wójcik', 'Łucja Żak'],
    genres: ['jazz'],
    ambiences: ['late night', 'live music'],
    age: '18',
    euros: 12,
  },
  {
    name: 'Kraftfeld: modular synthesizers, no laptops',
    description:
      'Nine tables full of cables in an old transformer station. Nothing is saved, so nothing will sound like this again.',
    artists: ['Jürgen Öztürk', 'Übergang', 'Frau Strom'],
    genres: ['techno', 'experimental'],
    ambiences: ['dancing', 'industrial'],
    age: '18',
    outfit: 'Black, or anything',
    euros: 20,
  },
  {
    name: "Nit d'Estiu: havaneres a la fresca",
    description:
      'Sea songs on the square, burnt rum in a clay pot, and a chorus that anybody can learn in a verse.',
    artists: ['Port Vell', 'Núria Solà'],
    genres: ['folk'],
    ambiences: ['open air', 'families'],
    euros: 10,
  },
  {
    name: 'São Paulo Calling: samba-rock all-nighter',
    description:
      'Two floors, two couples who teach the steps at eleven, and an orchestra that has not stopped before five since 1998.',
    artists: ['Orquestra Açaí', 'João do Baque', 'Dona Conceição'],
    genres: ['samba', 'rock'],
    ambiences: ['dancing', 'late night'],
    age: '18',
    euros: 16,
  },
  {
    name: 'Sólveig and the Northern Choir',
    description:
      'A voice, forty voices, and the lights turned down until the snow outside is the brightest thing in the room.',
    artists: ['Sólveig Ásdísardóttir', 'Norra Kören'],
    genres: ['choral', 'art pop'],
    ambiences: ['seated', 'listening'],
    euros: 36,
  },
  {
    name: 'Oud under the stars',
    description:
      'Three masters of the oud, one after another and then together, on the terrace above the gulf.',
    artists: ['Naseer Al-Mutairi', 'Leïla Haddad', 'Yūsuf Demir'],
    genres: ['oud', 'classical'],
    ambiences: ['open air', 'listening'],
    outfit: 'Something warm: the wind comes from the sea',
    euros: 27,
  },
]
